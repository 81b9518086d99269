internal import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

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
    /// The URL names no file of this computer.
    case notAFileURL
    /// Its name is not UTF-8, and no URL can name it.
    case notUTF8
    /// It was copied to another disk as a whole, and is still here, too, or something of it is.
    ///
    /// The code is what the system says; nil where something was changed or added meanwhile.
    case notRemoved(code: Int32?)
  }

  public let action: Action
  /// The file or folder that it is about; the whole URL if that names none.
  public let path: String
  public let reason: Reason
  /// Whether it is about what is to be there already, and not about what is to be made.
  let isAboutSource: Bool

  public var description: String { "Cannot \(action.rawValue) \(path): \(explanation)" }

  private var explanation: String {
    switch reason {
    case .system(let code):
      let error = SystemError(code: code)
      return "\(error). \(isAboutSource ? error.adviceForSource : error.adviceForDestination)"
    case .tooLarge(let limit):
      return "it has more than \(limit) bytes. Allow more, or read it in parts."
    case .notCopied:
      return "it is a device, a pipe or a socket. Leave it out."
    case .insideItself:
      return "the copy would lie inside it. Name a place outside."
    case .notAFileURL:
      return "it is not the URL of a file. Name one that begins with file:///."
    case .notUTF8:
      return "its name is not UTF-8. Give it another name."
    case .notRemoved(let code?):
      return "\(SystemError(code: code)). The copy is whole. Remove what is left here."
    case .notRemoved(nil):
      return
        "it was changed or added after it had been copied. The rest of the copy is whole. "
        + "Copy this again, or remove it."
    }
  }
}

extension SystemError {
  /// What whoever names a file that is to be there can do about it.
  fileprivate var adviceForSource: String {
    switch code {
    case ENOENT: "Name one that is there."
    case ENOTDIR: "Name one that is there, and a folder where one is asked for."
    case EACCES, EPERM: "Ask for the right to use it."
    case ENXIO: "It is a socket. Name a file."
    default: advice
    }
  }

  /// What whoever names a file that is to be made can do about it.
  fileprivate var adviceForDestination: String {
    switch code {
    case EEXIST: "Remove it first, name another place, or replace it by `replacing: true`."
    case ENXIO: "Have somebody open it for reading first."
    default: advice
    }
  }
}
