/// A ``TraceFile`` could not be written.
public struct TraceFileError: Error, Sendable, CustomStringConvertible {
  /// The name of the file.
  public let path: String
  /// The number of the system's error, one of `errno`.
  public let code: Int32

  private let system: SystemError

  init(path: String, system: SystemError) {
    self.path = path
    self.system = system
    code = system.code
  }

  /// What the system says, in its own words.
  public var reason: String { system.description }

  /// The file, the reason, and what can be done about it.
  public var description: String {
    "cannot write the trace to \(path): \(reason). \(system.advice)"
  }
}
