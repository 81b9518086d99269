/// The error of a failed system call.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  /// The value of `errno`.
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// The error of the last system call that failed on the calling thread.
  package static var last: SystemError { SystemError(code: errno) }

  /// The system's text for the error.
  package var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

// The names of swift-system.
extension SystemError {
  package static var argumentListTooLong: SystemError { SystemError(code: E2BIG) }
  package static var brokenPipe: SystemError { SystemError(code: EPIPE) }
  package static var directoryNotEmpty: SystemError { SystemError(code: ENOTEMPTY) }
  package static var diskQuotaExceeded: SystemError { SystemError(code: EDQUOT) }
  package static var execFormatError: SystemError { SystemError(code: ENOEXEC) }
  package static var fileExists: SystemError { SystemError(code: EEXIST) }
  package static var fileTooLarge: SystemError { SystemError(code: EFBIG) }
  package static var illegalByteSequence: SystemError { SystemError(code: EILSEQ) }
  package static var improperLink: SystemError { SystemError(code: EXDEV) }
  package static var interrupted: SystemError { SystemError(code: EINTR) }
  package static var invalidArgument: SystemError { SystemError(code: EINVAL) }
  package static var ioError: SystemError { SystemError(code: EIO) }
  package static var isDirectory: SystemError { SystemError(code: EISDIR) }
  package static var nameTooLong: SystemError { SystemError(code: ENAMETOOLONG) }
  package static var noLocks: SystemError { SystemError(code: ENOLCK) }
  package static var noMemory: SystemError { SystemError(code: ENOMEM) }
  package static var noSpace: SystemError { SystemError(code: ENOSPC) }
  package static var noSuchAddressOrDevice: SystemError { SystemError(code: ENXIO) }
  package static var noSuchFileOrDirectory: SystemError { SystemError(code: ENOENT) }
  package static var notDirectory: SystemError { SystemError(code: ENOTDIR) }
  package static var notPermitted: SystemError { SystemError(code: EPERM) }
  package static var notSupported: SystemError { SystemError(code: ENOTSUP) }
  package static var permissionDenied: SystemError { SystemError(code: EACCES) }
  package static var readOnlyFileSystem: SystemError { SystemError(code: EROFS) }
  package static var resourceBusy: SystemError { SystemError(code: EBUSY) }
  package static var staleNFSFileHandle: SystemError { SystemError(code: ESTALE) }
  package static var textFileBusy: SystemError { SystemError(code: ETXTBSY) }
  package static var timedOut: SystemError { SystemError(code: ETIMEDOUT) }
  package static var tooManyOpenFiles: SystemError { SystemError(code: EMFILE) }
  package static var tooManyOpenFilesInSystem: SystemError { SystemError(code: ENFILE) }
  package static var tooManySymbolicLinkLevels: SystemError { SystemError(code: ELOOP) }
  package static var wouldBlock: SystemError { SystemError(code: EAGAIN) }
}

extension SystemError {
  /// Whether no file has the path.
  package var isMissing: Bool { self == .noSuchFileOrDirectory || self == .notDirectory }

  /// Whether the process or the system has too many open files.
  package var isLackOfFiles: Bool {
    self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem
  }

  /// Whether the process lacks a permission.
  package var isDenied: Bool { self == .permissionDenied || self == .notPermitted }

  /// Whether the same call may succeed later, although nothing is done about the error.
  package var isTransient: Bool {
    switch self {
    case .interrupted, .wouldBlock, .noMemory, .resourceBusy, .textFileBusy, .staleNFSFileHandle,
      .timedOut:
      true
    default: false
    }
  }

  /// A sentence that says what to do about the error of a call that was given a path.
  package var advice: String {
    switch self {
    case .noSuchFileOrDirectory, .notDirectory: "Create the folder first, or use another path."
    case .permissionDenied, .notPermitted, .readOnlyFileSystem: "Use a path that is writable."
    case .isDirectory: "Use the path of a file in that folder."
    case .noSpace, .diskQuotaExceeded, .fileTooLarge:
      "Free disk space, or use a path on another disk."
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
      "Too many files are open: close some of them first."
    case .nameTooLong: "Use a shorter path."
    case .tooManySymbolicLinkLevels: "Check the symbolic links in the path, or use another path."
    case .ioError: "Check the disk, or use a path on another disk."
    case _ where isTransient: "Try again, or use another path."
    default: "Use another path."
    }
  }

  /// Calls a function and returns its value; nil if it throws the error of a missing file.
  package static func nilIfMissing<Value>(_ body: () throws -> Value) throws -> Value? {
    do { return try body() } catch let error as SystemError where error.isMissing { return nil }
  }
}
