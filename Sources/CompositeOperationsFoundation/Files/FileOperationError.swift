internal import CompositeOperations
public import Foundation
internal import SystemSupport

/// The error of a file operation: the action, the file and the reason.
public struct FileOperationError: Error, CustomStringConvertible {
  /// An action on a file.
  public enum Action: String, Sendable {
    case read, write, copy, move, remove, list
  }

  /// A reason why an action failed.
  public enum Reason: Hashable, Sendable {
    /// A system call failed, with this `errno`.
    case system(code: Int32)
    /// The file is larger than the limit, in bytes.
    case tooLarge(limit: Int)
    /// The item is neither a file nor a folder nor a symbolic link, and has no contents to copy.
    case notCopied
    /// The destination of a folder is inside that folder.
    case insideItself
    /// The URL does not name a file on this machine.
    case notAFileURL
    /// The name is not UTF-8, so no URL can represent it.
    case notUTF8
    /// The copy on another disk is complete, but the original, or a part of it, was not removed.
    ///
    /// The code is the `errno` of the system; nil if something was changed or added meanwhile.
    case notRemoved(code: Int32?)
  }

  /// The action that failed.
  public let action: Action
  /// The path of the file or folder; the whole URL if that does not name a file.
  public let path: String
  /// Why the action failed.
  public let reason: Reason
  let role: Role

  /// How the operation uses the path.
  enum Role: Sendable {
    /// As an existing file.
    case source
    /// As a file to create.
    case destination
    /// As a file to create, but it is the source or a folder that contains the source.
    case destinationWithSource
  }

  /// The action, the file, the reason, and what to do.
  public var description: String { "Cannot \(action.rawValue) \(path): \(explanation)" }

  private var explanation: String {
    switch reason {
    case .system(SystemError.directoryNotEmpty.code) where action == .remove:
      return "\(SystemError.directoryNotEmpty). Try again: it was changed during the removal."
    case .system(let code):
      let error = SystemError(code: code)
      return "\(error). \(error.advice(for: role))"
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

extension FileOperationError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension SystemError {
  fileprivate func advice(for role: FileOperationError.Role) -> String {
    switch role {
    case .source: adviceForSource
    case .destination: adviceForDestination
    case .destinationWithSource: "It is the source or contains it. Use another path."
    }
  }

  /// The advice for a file that must exist.
  private var adviceForSource: String {
    switch self {
    case .noSuchFileOrDirectory: "Check the path."
    case .notDirectory: "Check the path: a folder is expected in place of a file."
    case .permissionDenied, .notPermitted: "Get permission to access it first."
    case .noSuchAddressOrDevice: "It is a socket. Use a file."
    default: advice
    }
  }

  /// The advice for a file to create.
  private var adviceForDestination: String {
    switch self {
    case .fileExists: "Remove it first, use another path, or pass `replacing: true`."
    case .noSuchAddressOrDevice: "Open it for reading first."
    default: advice
    }
  }
}
