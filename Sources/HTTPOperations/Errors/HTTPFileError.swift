internal import CompositeOperations
public import Foundation
internal import SystemSupport

/// The error of a file that an upload cannot read, or a download cannot write, or of the folder of a
/// cache.
public struct HTTPFileError: HTTPRequestError, CustomStringConvertible {
  /// The request that failed.
  public let request: HTTPRequestSummary
  /// The path of the file.
  public let path: String
  /// The problem, such as "cannot be written".
  public let problem: String
  /// The `errno` of the system; 0 if no system call failed.
  public let code: Int32
  /// The SHA-256 of what was downloaded, if it is not the expected one; nil for other problems.
  public let foundSHA256: String?
  /// The reason, and what to do.
  private let explanation: String

  /// Always false.
  public var isRetryable: Bool { false }

  /// The request, the file, the problem, and what to do.
  public var description: String { "\(request): the file \(path) \(problem): \(explanation)" }

  init(_ error: FileError, of request: HTTPRequestSummary) {
    self.request = request
    path = error.path
    problem = error.problem
    code = error.code
    foundSHA256 = error.foundSHA256
    explanation = error.explanation
  }
}

extension HTTPFileError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

/// The problem with a file, without the request.
struct FileError: Error {
  let path: String
  let problem: String
  let code: Int32
  let explanation: String
  var foundSHA256: String?

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

  /// Calls a function, and converts its system error to an error that names the file.
  static func at<Value>(
    _ path: String, _ problem: String, _ body: () throws(SystemError) -> Value
  ) throws(FileError) -> Value {
    do { return try body() } catch { throw FileError(path, problem, error) }
  }
}
