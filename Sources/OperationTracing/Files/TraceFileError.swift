internal import SystemSupport

/// An error thrown when the file of a trace cannot be written.
public struct TraceFileError: Error, Sendable, CustomStringConvertible {
  /// The path of the file.
  public let path: String
  /// The system's error number, a value of `errno`.
  public let code: Int32

  private let system: SystemError

  init(path: String, system: SystemError) {
    self.path = path
    self.system = system
    code = system.code
  }

  /// The system's description of the error.
  public var reason: String { system.description }

  /// The file, the reason, and advice on how to fix it.
  public var description: String {
    "cannot write the trace to \(path): \(reason). \(system.advice)"
  }
}
