/// How long to wait before an operation that failed is tried again.
///
/// ```swift
/// let backoff = Backoff.exponential(from: .milliseconds(100)).capped(at: .seconds(5)).jittered()
/// let issues = FetchIssues(repository: repository).retrying(attempts: 5, backoff: backoff)
/// ```
///
/// The first delay comes after the first failure. Without a cap delays grow to 30 years at most.
public struct Backoff: Sendable {
  /// How chance changes delays, so that those who failed at the same time do not come back at the same
  /// time.
  public enum Jitter: Sendable {
    /// Anything from nothing to the delay.
    case full
    /// Anything from half the delay to the delay.
    case equal
    /// Anything from the first delay to three times the one before.
    case decorrelated
  }

  private enum Growth: Sendable {
    case constant
    case linear(step: Duration)
    case exponential(factor: Double)
    case fibonacci
  }

  private let first: Duration
  private let growth: Growth
  private var longest = Duration.seconds(1_000_000_000)
  private var jitter: Jitter?

  private init(_ first: Duration, _ growth: Growth) {
    precondition(first >= .zero, "the first delay must not be negative (was \(first))")
    self.first = first
    self.growth = growth
  }

  /// No delay.
  public static let none = Backoff(.zero, .constant)

  /// Always the same delay.
  ///
  /// - Precondition: It is not negative.
  public static func constant(_ delay: Duration) -> Backoff { Backoff(delay, .constant) }

  /// A delay that grows by a step each time.
  ///
  /// - Parameters:
  ///   - first: The first delay.
  ///   - step: What is added each time; the first delay if it is left out.
  /// - Precondition: Neither is negative.
  public static func linear(from first: Duration, by step: Duration? = nil) -> Backoff {
    let step = step ?? first
    precondition(step >= .zero, "`step` must not be negative (was \(step))")
    return Backoff(first, .linear(step: step))
  }

  /// A delay that is multiplied each time.
  ///
  /// - Precondition: `first` is not negative, and `factor` at least 1.
  public static func exponential(from first: Duration, by factor: Double = 2) -> Backoff {
    precondition(
      factor >= 1 && factor.isFinite, "`factor` must be at least 1 and finite (was \(factor))")
    return Backoff(first, .exponential(factor: factor))
  }

  /// A delay that is each time the sum of the two before: 1, 1, 2, 3, 5 times the first.
  ///
  /// - Precondition: It is not negative.
  public static func fibonacci(from first: Duration) -> Backoff { Backoff(first, .fibonacci) }

  /// The same with no delay longer than this one, jitter included.
  ///
  /// - Precondition: It is not negative.
  public func capped(at longest: Duration) -> Backoff {
    precondition(longest >= .zero, "`longest` must not be negative (was \(longest))")
    var backoff = self
    backoff.longest = min(longest, self.longest)
    return backoff
  }

  /// The same with delays that chance shortens.
  public func jittered(_ jitter: Jitter = .full) -> Backoff {
    var backoff = self
    backoff.jitter = jitter
    return backoff
  }
}

extension Backoff {
  /// The delays, one after another.
  package struct Delays {
    private let backoff: Backoff
    /// Without jitter: the next delay, and the one behind it where that takes both.
    private var next: Duration
    private var afterNext: Duration
    /// The last delay that was given.
    private var last: Duration

    package init(_ backoff: Backoff) {
      self.backoff = backoff
      next = min(backoff.first, backoff.longest)
      afterNext = next
      last = next
    }

    /// The delay after one more failure.
    package mutating func delay(using randomness: inout some RandomNumberGenerator) -> Duration {
      let delay = next
      advance()
      last =
        switch backoff.jitter {
        case nil: delay
        case .full: Self.random(from: .zero, to: delay, using: &randomness)
        case .equal: Self.random(from: delay / 2, to: delay, using: &randomness)
        case .decorrelated:
          Self.random(
            from: min(backoff.first, backoff.longest), to: min(last * 3, backoff.longest),
            using: &randomness)
        }
      return last
    }

    // Nothing overflows: what is multiplied or added is at most the longest, which is 30 years.
    private mutating func advance() {
      let longest = backoff.longest
      switch backoff.growth {
      case .constant: break
      case .linear(let step): next = min(next + min(step, longest), longest)
      case .exponential(let factor):
        // By whole numbers exactly.
        let whole = Int(exactly: factor.rounded(.down)) ?? .max
        if next == .zero { break }
        if factor >= longest / next {
          next = longest
        } else {
          next = min(factor == Double(whole) ? next * whole : next * factor, longest)
        }
      case .fibonacci: (next, afterNext) = (afterNext, min(next + afterNext, longest))
      }
    }

    private static func random(
      from least: Duration, to most: Duration, using randomness: inout some RandomNumberGenerator
    ) -> Duration {
      // 53 random bits, 0 to 1.
      let share = Double(randomness.next() >> 11) / Double((1 as UInt64) << 53 - 1)
      return min(least + (most - least) * share, most)
    }
  }
}
