internal import CompositeOperations
internal import SystemSupport

/// Visits the contents of a folder in the order of the names, with a folder before its contents.
///
/// Entries that vanish meanwhile are omitted.
final class TreeWalk {
  struct Entry {
    let name: FileName
    let status: FileStatus
  }

  enum Step {
    /// An entry of the current folder. If it is a folder, it may be entered now.
    case found(Entry)
    /// The end of a folder that was entered, which the caller closes. There is none for the root.
    case left(Entry, OpenFolder)
  }

  private let errors: FileErrors
  private let context: BlockingContext?
  private let openPath: OpenPath
  private var entered: [Entry] = []
  /// For the root and every entered folder, the names that have not been visited, the next one
  /// last.
  private var pending: [[FileName]]

  /// - Parameters:
  ///   - root: The folder to visit. It is closed at the end.
  ///   - path: The path of the folder in errors.
  ///   - context: The context for cancellation; nil to continue to the end.
  init(
    _ root: OpenFolder, at path: String, _ errors: FileErrors, _ context: BlockingContext?
  ) throws {
    (self.errors, self.context) = (errors, context)
    openPath = try errors.mapping(source: path) { try OpenPath(root, at: path) }
    pending = []
    pending = [try errors.mapping(source: path) { try names() }]
  }

  /// The current folder.
  var folder: OpenFolder { openPath.innermost }

  /// The path of an entry of the current folder in errors.
  func path(of name: FileName) -> String { openPath.path(of: name) }

  /// - Returns: The next step; nil at the end.
  /// - Throws: A ``FileOperationError``, after which the caller can continue, or
  ///   `CancellationError`.
  func next() throws -> Step? {
    while !pending.isEmpty {
      try context?.checkCancellation()
      guard let name = pending[pending.count - 1].popLast() else {
        pending.removeLast()
        guard let entry = entered.popLast() else { return nil }
        return .left(entry, try leave(entry))
      }
      let status = try errors.mapping(source: path(of: name)) {
        try SystemError.nilIfMissing { try folder.status(of: name) }
      }
      if let status { return .found(Entry(name: name, status: status)) }
    }
    return nil
  }

  /// Enters a folder that was found.
  ///
  /// - Parameter isOpened: Whether to let the owner change the folder if its permissions do not.
  /// - Returns: Whether the folder still existed.
  func enter(_ entry: Entry, opening isOpened: Bool = false) throws -> Bool {
    try errors.mapping(source: path(of: entry.name)) {
      guard try SystemError.nilIfMissing({ try openPath.enter(entry.name) }) != nil else {
        return false
      }
      if isOpened { folder.grantOwnerAccess(entry.status) }
      entered.append(entry)
      pending.append([])
      pending[pending.count - 1] = try names()
      return true
    }
  }

  private func names() throws -> [FileName] {
    try folder.names { try context?.checkCancellation() }.reversed()
  }

  private func leave(_ entry: Entry) throws -> OpenFolder {
    do throws(SystemError) { return try openPath.leave() } catch {
      // The location of the parent folder is unknown, so the rest cannot be visited.
      pending = []
      throw errors.error(source: path(of: FileName(".")), .system(code: error.code))
    }
  }
}
