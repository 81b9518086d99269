internal import CompositeOperations

/// The error of an operation on files: which file it is, what was to be done with it, and what the system says.
public struct FileOperationError: Error, CustomStringConvertible {
  /// What was to be done.
  public enum Action: String, Sendable {
    case read, write, copy, move, remove, list
  }

  /// Why it was not done.
  public enum Reason: Hashable, Sendable {
    /// What the system says, one of `errno`.
    case system(code: Int32)
    /// It has more bytes than may be read.
    case tooLarge(limit: Int)
    /// It is neither a file nor a folder nor a symbolic link, and has no contents to copy.
    case notCopied
    /// The copy of a folder would lie in that folder.
    case insideItself
  }

  public let action: Action
  /// The file or folder that it is about.
  public let path: String
  public let reason: Reason

  public var description: String {
    switch reason {
    case .system(let code):
      let error = SystemError(code: code)
      return "Cannot \(action.rawValue) \(path): \(error). \(advice(on: error))"
    case .tooLarge(let limit):
      return
        "Cannot \(action.rawValue) \(path): it has more than \(limit) bytes. Allow more, or read it in parts."
    case .notCopied:
      return "Cannot \(action.rawValue) \(path): it is a device, a pipe or a socket. Leave it out."
    case .insideItself:
      return
        "Cannot \(action.rawValue) \(path): the copy would lie inside it. Name a place outside."
    }
  }

  private func advice(on error: SystemError) -> String {
    switch action {
    case .read, .list, .remove: error.adviceForSource
    case .write, .copy, .move: error.advice
    }
  }
}

extension SystemError {
  /// What whoever names a file that is to be there can do about it.
  fileprivate var adviceForSource: String {
    isMissing ? "Name one that is there." : isDenied ? "Ask for the right to use it." : advice
  }
}
