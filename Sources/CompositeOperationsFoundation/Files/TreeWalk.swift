internal import CompositeOperations
internal import SystemFiles

/// Goes through all that is in a folder, in the order of the names, a folder before what is in it.
///
/// What vanishes meanwhile is left out, as if it had never been there.
final class TreeWalk {
  struct Entry {
    let name: FileName
    let status: FileStatus
  }

  enum Step {
    /// Something in the folder; a folder may now be entered.
    case found(Entry)
    /// The end of a folder that was entered, which the caller closes. Before the end of the root there is none.
    case left(Entry, OpenFolder)
  }

  private let failure: FileFailure
  private let context: BlockingContext?
  private let openPath: OpenPath
  private var entered: [Entry] = []
  /// Of the root and all that were entered, the names that are still to come, the next one last.
  private var pending: [[FileName]]

  /// - Parameters:
  ///   - root: The folder, which this closes.
  ///   - path: What it is called in errors.
  ///   - context: Whose cancellation is heeded; nil to go on to the end.
  init(
    _ root: OpenFolder, at path: String, _ failure: FileFailure, _ context: BlockingContext?
  ) throws {
    (self.failure, self.context) = (failure, context)
    openPath = try failure.at(source: path) { try OpenPath(root, at: path) }
    pending = []
    pending = [try failure.at(source: path) { try names() }]
  }

  /// The folder that is gone through.
  var folder: OpenFolder { openPath.innermost }

  /// What an entry of that folder is called in errors.
  func path(of name: FileName) -> String { openPath.path(of: name) }

  /// - Returns: Nil at the end.
  /// - Throws: A ``FileOperationError``, after which the next step can be asked for, or `CancellationError`.
  func next() throws -> Step? {
    while !pending.isEmpty {
      try context?.checkCancellation()
      guard let name = pending[pending.count - 1].popLast() else {
        pending.removeLast()
        guard let entry = entered.popLast() else { return nil }
        return .left(entry, try leave(entry))
      }
      let status = try failure.at(source: path(of: name)) {
        try SystemError.ifThere { try folder.status(of: name) }
      }
      if let status { return .found(Entry(name: name, status: status)) }
    }
    return nil
  }

  /// Goes into a folder that was found.
  ///
  /// - Parameter isOpened: Whether its owner gets the right to change it, where he has none.
  /// - Returns: Whether it was still there.
  func enter(_ entry: Entry, opening isOpened: Bool = false) throws -> Bool {
    try failure.at(source: path(of: entry.name)) {
      guard try SystemError.ifThere({ try openPath.enter(entry.name) }) != nil else { return false }
      if isOpened { folder.letOwnerChange(entry.status) }
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
      // Nobody knows where the rest is.
      pending = []
      throw failure.error(source: path(of: FileName(".")), .system(code: error.code))
    }
  }
}
