public import Foundation

/// The error of a pipeline in which programs have failed.
public struct ProcessPipelineError: Error, CustomStringConvertible {
  /// A program that has failed by itself.
  public struct Failure: Sendable {
    /// The position of the program in the pipeline, from 1.
    public let position: Int
    /// The error of the program, such as a ``ProcessExitError``, which names the command.
    public let error: any Error
  }

  /// The programs that have failed, from the first to the last. Programs that were cancelled
  /// because of them are not included.
  public let failures: [Failure]
  /// The names of all programs.
  private let names: String
  private let count: Int

  init(programs: [ProcessOperation], failures: [Failure]) {
    names = programs.map(\.operationName).joined(separator: " | ")
    count = programs.count
    self.failures = failures
  }

  /// Each program that has failed, with its position and its error.
  public var description: String {
    failures.map { "program \($0.position) of \(count) in \(names): \($0.error)" }
      .joined(separator: "\n")
  }
}

extension ProcessPipelineError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
