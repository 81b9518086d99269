internal import SystemSupport

extension ProcessLaunchError {
  /// The error of a system call.
  public struct Failure: Sendable, Hashable, CustomStringConvertible {
    /// The `errno` of the call.
    public let code: Int32

    init(code: Int32) { self.code = code }

    init(_ error: SystemError) { code = error.code }

    var error: SystemError { SystemError(code: code) }

    /// The system's text for the error.
    public var description: String { "\(error)" }

    /// The advice for a file to read.
    var adviceToReader: String {
      switch error {
      case .noSuchAddressOrDevice:
        "No process has the named pipe open for writing. Start its writer first."
      default: "Use a readable file as input."
      }
    }

    /// The advice for a file to write.
    var adviceToWriter: String {
      switch error {
      case .noSuchAddressOrDevice:
        "No process has the named pipe open for reading. Start its reader first."
      case .textFileBusy: "The file is a running program. Wait for its end, or use another path."
      case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .wouldBlock, .noMemory: advice
      default: error.advice
      }
    }

    /// The advice for other calls.
    var advice: String {
      switch error {
      case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
        "Run fewer programs at once, or raise the limit on open files: each uses up to four."
      case .wouldBlock: "Run fewer programs at once, or raise the limit on processes."
      case .noMemory: "Run fewer programs at once: there is not enough memory."
      case .textFileBusy:
        "The file is open for writing. Close it first, also in processes that inherited it."
      case _ where error.isTransient: "Try again, or run it in a shell for more information."
      default: "Run it in a shell for more information."
      }
    }
  }
}

extension ProcessLaunchError {
  /// Whether the failure may be temporary. A file that is open for writing cannot be executed, and
  /// a program that is being started may have inherited its descriptor for a short time.
  var isTransient: Bool {
    if case .system(let failure) = reason { failure.error == .textFileBusy } else { false }
  }
}
