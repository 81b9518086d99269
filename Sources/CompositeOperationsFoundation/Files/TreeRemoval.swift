internal import CompositeOperations
internal import SystemSupport

/// Removes a file, or a folder with its contents.
///
/// Below the root, nothing is removed by its path, so a symbolic link that replaces a folder cannot
/// redirect the removal. Entries that have vanished meanwhile count as removed.
struct TreeRemoval {
  let errors: FileErrors
  /// The context for cancellation and progress; nil to continue to the end.
  var context: BlockingContext?
  /// Whether to change folders whose permissions do not allow their owner to change them.
  var opensFolders = false
  /// Called for every entry. An entry for which it returns false stays.
  var mayRemove: (FileStatus) -> Bool = { _ in true }
  /// Called for every entry that cannot be removed. The removal continues unless this throws.
  var failed: (FileOperationError) throws -> Void = { throw $0 }

  /// - Returns: Whether there was anything to remove.
  @discardableResult func remove(_ path: String) throws -> Bool {
    try context?.checkCancellation()
    let name = FileName(path)
    let found = try errors.mapping(source: path) {
      try SystemError.nilIfMissing { try OpenFolder.working.status(of: name) }
    }
    guard let status = found else { return false }
    let entry = TreeWalk.Entry(name: name, status: status)
    var count = 0
    if status.kind == .folder {
      try tolerating { try empty(path, status, &count) }
      try context?.checkCancellation()
    }
    let isRemoved = try remove(entry, in: .working, at: path, &count)
    if !isRemoved, opensFolders, status.kind == .folder, let folder = try? OpenFolder(path) {
      try? folder.setPermissions(status.permissions)
      folder.close()
    }
    return true
  }

  private func tolerating(_ body: () throws -> Void) throws {
    do { try body() } catch let error as FileOperationError { try failed(error) }
  }

  private func empty(_ path: String, _ status: FileStatus, _ count: inout Int) throws {
    let root = try errors.mapping(source: path) { try OpenFolder(path) }
    if opensFolders { root.grantOwnerAccess(status) }
    let walk = try TreeWalk(root, at: path, errors, context)
    var isAtEnd = false
    while !isAtEnd {
      try tolerating {
        switch try walk.next() {
        case .found(let entry) where entry.status.kind == .folder:
          _ = try walk.enter(entry, opening: opensFolders)
        case .found(let entry):
          _ = try remove(entry, in: walk.folder, at: walk.path(of: entry.name), &count)
        case .left(let entry, let folder):
          defer { folder.close() }
          let path = walk.path(of: entry.name)
          if try !remove(entry, in: walk.folder, at: path, &count), opensFolders {
            try? folder.setPermissions(entry.status.permissions)
          }
        case nil: isAtEnd = true
        }
      }
    }
  }

  /// - Returns: Whether the entry no longer exists.
  private func remove(
    _ entry: TreeWalk.Entry, in folder: OpenFolder, at path: String, _ count: inout Int
  ) throws -> Bool {
    do {
      guard mayRemove(entry.status) else {
        throw errors.error(source: path, .notRemoved(code: nil))
      }
      try errors.mapping(source: path) {
        _ = try SystemError.nilIfMissing {
          if entry.status.kind == .folder {
            try folder.removeFolder(entry.name)
          } else {
            try folder.removeFile(entry.name)
          }
        }
      }
    } catch let error as FileOperationError {
      try failed(error)
      return false
    }
    count += 1
    context?.operationContext.report(count, unit: "entries")
    return true
  }
}
