internal import CompositeOperations
internal import SystemFiles

/// A file from which or to which records go cannot be read or written.
public struct RecordFileError: Error, CustomStringConvertible {
  /// The file, as it was named.
  public let path: String
  /// What failed: "cannot be written".
  public let problem: String
  /// What the system said, one of `errno`; 0 if it was not the system that refused.
  public let code: Int32
  /// Why, and what to do.
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

  /// Writes a file, and names it if the system refuses.
  static func writing<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    try check(path, "cannot be written")
    do { return try body() } catch let error as SystemError {
      throw RecordFileError(path, "cannot be written", error, error.advice)
    }
  }

  /// Reads a file, and names it if the system refuses.
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
