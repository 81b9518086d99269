/// The error of a scripted operation that was run more often than its script says.
public struct ScriptExhaustedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation.
  public let name: String
  /// How many runs the script has.
  public let scriptedRuns: Int
  /// Which run it was, from 1.
  public let run: Int

  public var description: String {
    "\(name) was run for time \(run), but \(scriptedRuns) runs are scripted. If that is right, script one "
      + "more, or say what all further runs do; else something runs it too often."
  }
}
