/// The error of a scripted operation that was run more often than its script says.
public struct ScriptExhaustedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation.
  public let name: String
  /// How many runs the script has.
  public let scriptedRuns: Int
  /// Which run it was, from 1.
  public let run: Int

  public var description: String {
    "run \(run) of \(name) is not scripted: the script has \(scriptedRuns) runs. Add a run, pass `thereafter` "
      + "for all further runs, or find out why it runs so often."
  }
}
