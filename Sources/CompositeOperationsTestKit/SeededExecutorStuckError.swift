/// An error thrown when the body of a seeded executor does not end.
///
/// Usually no job is left, because the body waits for something that no task on the executor will
/// do: a gate that stays closed, a clock that is not advanced, or work that left the executor.
/// Otherwise the job limit was reached, because the body never ends or needs more jobs.
public struct SeededExecutorStuckError: Error, CustomStringConvertible {
  /// The seed of the executor.
  public let seed: UInt64
  /// The number of jobs that were run.
  public let jobs: Int
  /// Whether the job limit was reached while jobs were left.
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
