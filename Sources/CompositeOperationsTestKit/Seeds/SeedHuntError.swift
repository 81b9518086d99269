/// An error thrown when a hunt has found a seed with which its body fails.
public struct SeedHuntError: Error, CustomStringConvertible {
  /// The seed.
  public let seed: UInt64
  /// The number of seeds that were tried before without a failure.
  public let seedsBefore: Int
  /// The error that the body threw, or a ``SeededExecutorStuckError`` if it did not end.
  public let underlying: any Error
  /// The module and the file of the hunt.
  public let file: String
  /// The line of the hunt.
  public let line: Int

  /// The location, the seed, the underlying error, and how to reproduce it.
  public var description: String {
    """
    \(file):\(line): seed \(seed) failed after \(seedsBefore) seeds that passed:
    \(underlying)
    To reproduce: run the test with \(SeedHunt.variable)=\(seed) in the environment, \
    or use SeedHunt(replaying: \(seed)).
    """
  }
}
