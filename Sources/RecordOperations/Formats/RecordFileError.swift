internal import CompositeOperations
internal import SystemSupport

/// An error for a file that records cannot be read from or written to.
public struct RecordFileError: Error, CustomStringConvertible {
  /// The path of the file, as it was given.
  public let path: String
  /// The failure, such as "cannot be written".
  public let problem: String
  /// The `errno` of the system; 0 if the error does not come from the system.
  public let code: Int32
  /// The reason, and what to do.
  private let explanation: String

  public var description: String { "the file \(path) \(problem): \(explanation)" }

  init(_ path: String, _ problem: String, because explanation: String) {
    self.path = path
    self.problem = problem
    code = 0
    self.explanation = explanation
  }

  private init(_ path: String, _ problem: String, _ error: SystemError, _ advice: String) {
    self.path = path
    self.problem = problem
    code = error.code
    explanation = "\(error). \(advice)"
  }

  /// Runs a closure that writes a file, and adds the path to errors of the system.
  static func writing<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    try check(path, "cannot be written")
    do { return try body() } catch let error as SystemError {
      throw RecordFileError(path, "cannot be written", error, error.advice)
    }
  }

  /// Runs a closure that reads a file, and adds the path to errors of the system.
  static func reading<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    try check(path, "cannot be read")
    do { return try body() } catch let error as SystemError {
      let advice =
        error.isMissing || error.isDenied
        ? "Choose an existing file that can be read." : error.advice
      throw RecordFileError(path, "cannot be read", error, advice)
    }
  }

  private static func check(_ path: String, _ problem: String) throws(RecordFileError) {
    guard path.utf8.contains(0) else { return }
    throw RecordFileError(
      path, problem,
      because: """
        its name \(path.debugDescription) contains a NUL, which the system takes for its end. \
        Remove the NUL.
        """)
  }
}
