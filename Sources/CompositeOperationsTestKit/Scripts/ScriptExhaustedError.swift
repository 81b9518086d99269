/// An error thrown when a scripted operation is run more often than its script allows.
public struct ScriptExhaustedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation.
  public let name: String
  /// The number of runs in the script.
  public let scriptedRuns: Int
  /// The number of the run that is not scripted, from 1.
  public let run: Int

  public var description: String {
    "run \(run) of \(name) is not scripted: the script has \(scriptedRuns) runs. Add a run, pass `thereafter` "
      + "for all further runs, or find out why it runs so often."
  }
}
