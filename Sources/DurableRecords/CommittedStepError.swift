public import DurableOperations

/// The error of a ``CommittedStep`` whose records and outcome cannot be one transaction. Its closure
/// has not been called.
public struct CommittedStepError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem.
  public enum Reason: String, Codable, Hashable, Sendable {
    /// The run is not stored in an SQLite file.
    case noFile
    /// The records and the run are in different files.
    case otherFile
    /// The operation is inside another one, and has no key.
    case noKey
  }

  /// The name of the run.
  public let run: RunID
  /// The position of the step, from 0.
  public let step: Int
  /// The name of the step.
  public let name: String
  /// The kind of the problem.
  public let reason: Reason
  /// The file of the records.
  public let records: String
  /// The file or address of the store.
  public let store: String

  public var description: String {
    let problem =
      switch reason {
      case .noFile:
        """
        the records are in \(records), and the run is stored in \(store); store the run in the same \
        file, with `RunStore.sqlite("\(records)")`
        """
      case .otherFile:
        """
        the records are in \(records), and the run is stored in \(store); one transaction needs one \
        file: use `RunStore.sqlite("\(records)")`
        """
      case .noKey:
        """
        a `CommittedStep` inside another operation needs a key, under which its result is stored \
        with its records; add `.journaled(as:)` directly to the `CommittedStep`, or return it as a \
        step of its own
        """
      }
    return "run \(run), step \(step), \(name): \(problem)"
  }
}
