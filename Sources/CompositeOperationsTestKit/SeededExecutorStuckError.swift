/// The error of a seeded executor whose body did not come to its end.
///
/// As a rule nothing was left to run: the body waits for something that nobody under the executor will do,
/// for a gate that stays closed, for a clock that is not advanced, or for work that left the executor. Or as
/// many jobs were run as may be: the body goes on for ever, or needs more.
public struct SeededExecutorStuckError: Error, CustomStringConvertible {
  /// The seed of the executor.
  public let seed: UInt64
  /// How many jobs had been run.
  public let jobs: Int
  /// Whether there was more to run, but as many jobs had been run as may be.
  public let isAtLimit: Bool

  public var description: String {
    if isAtLimit {
      "job limit reached: the body had not ended after \(jobs) jobs with seed \(seed); it never ends, or "
        + "the limit is too low"
    } else {
      "stuck: no job was left to run after \(jobs) jobs with seed \(seed), but the body had not ended; it "
        + "waits for something that no task on the executor will do"
    }
  }
}
