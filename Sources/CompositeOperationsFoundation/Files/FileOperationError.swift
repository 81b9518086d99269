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
      return "it is larger than the limit of \(limit) bytes. Raise the limit, or read it in parts."
    case .notCopied:
      return "it is a device, a pipe or a socket, which cannot be copied. Leave it out."
    case .insideItself:
      return "the destination is inside it. Use a destination outside."
    case .notAFileURL:
      return "it is not a file URL. Use a URL that begins with file:///."
    case .notUTF8:
      return "its name is not UTF-8. Rename it."
    case .notRemoved(let code?):
      return "\(SystemError(code: code)). The copy is complete. Remove the rest of the original."
    case .notRemoved(nil):
      return
        "it was changed or added after the copy was made. The rest of the copy is complete. "
        + "Copy this again, or remove it."
    }
  }
}

extension SystemError {
  /// What whoever names a file that is to be there can do about it.
  fileprivate var adviceForSource: String {
    switch code {
    case ENOENT: "Check the path."
    case ENOTDIR: "Check the path: a folder is expected in place of a file."
    case EACCES, EPERM: "Get permission to access it first."
    case ENXIO: "It is a socket. Use a file."
    default: advice
    }
  }

  /// What whoever names a file that is to be made can do about it.
  fileprivate var adviceForDestination: String {
    switch code {
    case EEXIST: "Remove it first, use another path, or pass `replacing: true`."
    case ENXIO: "Open it for reading first."
    default: advice
    }
  }
}
