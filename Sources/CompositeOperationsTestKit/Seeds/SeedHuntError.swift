/// The error of a hunt that found a seed under which its body fails: which one, why, and how to see it again.
public struct SeedHuntError: Error, CustomStringConvertible {
  /// The seed.
  public let seed: UInt64
  /// How many seeds were tried before, under which the body did not fail.
  public let seedsBefore: Int
  /// What the body threw, or a ``SeededExecutorStuckError`` if it did not come to its end.
  public let underlying: any Error
  /// The module and the file of the hunt.
  public let file: String
  /// The line of the hunt.
  public let line: Int

  public var description: String {
    """
    \(file):\(line): seed \(seed) failed after \(seedsBefore) seeds that passed:
    \(underlying)
    To reproduce: run the test with \(SeedHunt.variable)=\(seed) in the environment, \
    or use SeedHunt(replaying: \(seed)).
    """
  }
}
