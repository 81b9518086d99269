internal import Synchronization

/// The source of random numbers of an environment.
///
/// ```swift
/// let environment = OperationEnvironment(randomness: .seeded(7))
/// let outcome = await sync.run(in: environment)
/// ```
///
/// All operations of an environment with a seed share one sequence of numbers. So a run is
/// reproducible as far as the order of its draws is: completely under a deterministic executor.
public struct OperationRandomness: RandomNumberGenerator, Sendable {
  private let sequence: SplitMix64?

  /// The system's random numbers.
  public static let system = OperationRandomness(sequence: nil)

  /// Random numbers that are the same for the same seed.
  public static func seeded(_ seed: UInt64) -> OperationRandomness {
    OperationRandomness(sequence: SplitMix64(seed: seed))
  }

  /// Returns the next random number.
  public func next() -> UInt64 {
    guard let sequence else {
      var system = SystemRandomNumberGenerator()
      return system.next()
    }
    return sequence.next()
  }
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). Its state
/// is a counter, so an atomic addition makes it safe to share.
private final class SplitMix64: Sendable {
  private let state: Atomic<UInt64>

  init(seed: UInt64) { state = Atomic(seed) }

  func next() -> UInt64 {
    state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue.mixed
  }
}

extension UInt64 {
  /// The number with its bits mixed by the last step of SplitMix64, which is a bijection.
  package var mixed: UInt64 {
    var bits = self
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
