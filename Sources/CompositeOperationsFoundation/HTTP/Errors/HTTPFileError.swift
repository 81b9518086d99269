internal import CompositeOperations

/// A file that goes over HTTP cannot be read or written.
public struct HTTPFileError: HTTPRequestError, CustomStringConvertible {
  public let request: HTTPRequestSummary
  public let path: String
  /// What failed: "cannot be written".
  public let problem: String
  /// What the system said, one of `errno`; 0 if it was not the system that refused.
  public let code: Int32
  /// Why, and what to do.
  private let explanation: String

  public var isRetryable: Bool { false }

  public var description: String { "\(request): the file \(path) \(problem): \(explanation)" }

  init(_ error: FileError, of request: HTTPRequestSummary) {
    self.request = request
    path = error.path
    problem = error.problem
    code = error.code
    explanation = error.explanation
  }
}

/// What is wrong with a file, for those who do not know of requests.
struct FileError: Error {
  let path: String
  let problem: String
  let code: Int32
  let explanation: String

  init(_ path: String, _ problem: String, _ error: SystemError) {
    self.init(path, problem, error, because: "\(error). \(error.advice)")
  }

  init(_ path: String, _ problem: String, _ error: SystemError, because explanation: String) {
    self.path = path
    self.problem = problem
    code = error.code
    self.explanation = explanation
  }

  init(_ path: String, _ problem: String, because explanation: String) {
    self.init(path, problem, SystemError(code: 0), because: explanation)
  }

  /// Does something with a file, and names it if the system refuses.
  static func at<Value>(
    _ path: String, _ problem: String, _ body: () throws(SystemError) -> Value
  ) throws(FileError) -> Value {
    do { return try body() } catch { throw FileError(path, problem, error) }
  }
}
