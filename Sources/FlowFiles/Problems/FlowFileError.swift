/// A problem of a flow file, with advice where there is any.
public struct FlowProblem: Hashable, Sendable {
  /// The position; nil if the problem has none, such as a file that cannot be read.
  public let location: FlowLocation?
  /// The message, without the path and the position.
  public let message: String

  package init(_ location: FlowLocation?, _ message: String) {
    self.location = location
    self.message = message
  }
}

/// The problems of a flow file, sorted by their positions.
public struct FlowFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file, as the caller gave it.
  public let path: String
  /// The problems; at least one. Problems without a position are first.
  public let problems: [FlowProblem]

  /// A line for each problem: `release.yaml:12:5: unknown step 'tests' in needs of 'pack'`.
  public var description: String {
    problems.map { problem in
      guard let location = problem.location else { return "\(path): \(problem.message)" }
      return "\(path):\(location.line):\(location.column): \(problem.message)"
    }.joined(separator: "\n")
  }
}

/// The error that makes the rest of a file unreadable.
struct FlowSyntaxError: Error {
  let problem: FlowProblem

  init(_ location: FlowLocation?, _ message: String) { problem = FlowProblem(location, message) }
}
