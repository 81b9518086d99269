internal import CompositeOperations
internal import SystemSupport

/// The move of one file or folder.
struct FileMove: Sendable {
  let source: String
  let destination: String
  let replaces: Bool
  let errors: FileErrors

  func run(_ context: BlockingContext) throws {
    let status = try errors.mapping(source: source) {
      try OpenFolder.working.status(of: FileName(source))
    }
    let there = try errors.mapping(destination: destination) {
      try SystemError.nilIfMissing { try OpenFolder.working.status(of: FileName(destination)) }
    }
    try context.checkCancellation()
    if let there, there.identity == status.identity, status.kind != .folder {
      return try errors.mapping(destination: destination) { try dropName(status, there) }
    }
    if let there, !replaces || !there.isReplaced(by: status) {
      throw errors.error(existing: destination, there, source: source, status)
    }
    do throws(SystemError) {
      if replaces, status.kind != .folder {
        try FileSystem.rename(source, to: destination)
      } else {
        try FileSystem.renameIfFree(source, to: destination)
      }
    } catch {
      if error != .improperLink { throw explained(error, status) }
      try moveToOtherDisk(context)
    }
  }

  /// Moves a file to a destination that is another name of the same file.
  private func dropName(_ status: FileStatus, _ there: FileStatus) throws {
    let haveTwoNames = try status.hardLinkCount > 1 && FileSystem.areTwoNames(source, destination)
    // On a case-insensitive file system, the destination may be another spelling of its only name.
    if !replaces, haveTwoNames || source.splitPath.name == destination.splitPath.name {
      throw errors.error(existing: destination, there, source: source, status)
    }
    // For the system, a rename between two names of one file does nothing.
    try FileSystem.rename(source, to: destination)
    guard haveTwoNames else { return }
    _ = try SystemError.nilIfMissing { try OpenFolder.working.removeFile(FileName(source)) }
  }

  private func explained(_ error: SystemError, _ status: FileStatus) -> FileOperationError {
    if error == .invalidArgument, status.kind == .folder {
      return errors.error(source: source, .insideItself)
    }
    // The system does not report which of the two folders the error is about.
    if error.isDenied, FileSystem.allows(.changingNames, to: destination.splitPath.folder) {
      return errors.error(source: source, .system(code: error.code))
    }
    return errors.error(destination: destination, .system(code: error.code))
  }

  private func moveToOtherDisk(_ context: BlockingContext) throws {
    let copy = FileCopy(source, destination, errors, context, remembering: true)
    try copy.run(replacing: replaces)
    var first: FileOperationError?
    try TreeRemoval(
      errors: errors, opensFolders: true, mayRemove: { copy.hasCopied($0) },
      failed: { first = first ?? $0 }
    ).remove(source)
    guard let first else { return }
    switch first.reason {
    case .system(SystemError.directoryNotEmpty.code), .system(SystemError.fileExists.code):
      // Something was added to a folder after it had been emptied.
      throw errors.error(source: first.path, .notRemoved(code: nil))
    case .system(let code): throw errors.error(source: first.path, .notRemoved(code: code))
    case .tooLarge, .notCopied, .insideItself, .notAFileURL, .notUTF8, .notRemoved: throw first
    }
  }
}
