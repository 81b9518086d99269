/// The delays between the attempts or repetitions of an operation.
///
/// ```swift
/// let backoff = Backoff.exponential(from: .milliseconds(100)).capped(at: .seconds(5)).jittered()
/// let issues = FetchIssues(repository: repository).retrying(attempts: 5, backoff: backoff)
/// ```
///
/// The first delay follows the first failure. Without a cap, delays grow to at most 30 years.
public struct Backoff: Sendable {
  /// A random variation of delays, so that operations that failed at the same time do not retry at
  /// the same time.
  public enum Jitter: Sendable {
    /// A random delay between zero and the delay.
    case full
    /// A random delay between half the delay and the delay.
    case equal
    /// A random delay between the first delay and three times the previous random delay. Of the
    /// backoff, only the first delay and the maximum of ``Backoff/capped(at:)`` are used.
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

  /// Returns a backoff with a constant delay.
  ///
  /// - Precondition: `delay` is not negative.
  public static func constant(_ delay: Duration) -> Backoff { Backoff(delay, .constant) }

  /// Returns a backoff whose delay grows by a step each time.
  ///
  /// - Parameters:
  ///   - first: The first delay.
  ///   - step: The amount added each time; by default the first delay.
  /// - Precondition: `first` and `step` are not negative.
  public static func linear(from first: Duration, by step: Duration? = nil) -> Backoff {
    let step = step ?? first
    precondition(step >= .zero, "`step` must not be negative (was \(step))")
    return Backoff(first, .linear(step: step))
  }

  /// Returns a backoff whose delay is multiplied each time.
  ///
  /// - Parameters:
  ///   - first: The first delay.
  ///   - factor: The number by which a delay is multiplied to get the next one.
  /// - Precondition: `first` is not negative, and `factor` is finite and at least 1.
  public static func exponential(from first: Duration, by factor: Double = 2) -> Backoff {
    precondition(
      factor >= 1 && factor.isFinite, "`factor` must be at least 1 and finite (was \(factor))")
    return Backoff(first, .exponential(factor: factor))
  }

  /// Returns a backoff whose delay is the sum of the previous two: 1, 1, 2, 3, 5 times the first.
  ///
  /// - Precondition: `first` is not negative.
  public static func fibonacci(from first: Duration) -> Backoff { Backoff(first, .fibonacci) }

  /// Returns a copy whose delays, including jitter, never exceed a maximum.
  ///
  /// - Parameter longest: The maximum delay.
  /// - Precondition: `longest` is not negative.
  public func capped(at longest: Duration) -> Backoff {
    precondition(longest >= .zero, "`longest` must not be negative (was \(longest))")
    var backoff = self
    backoff.longest = min(longest, self.longest)
    return backoff
  }

  /// Returns a copy whose delays vary at random, with the random numbers of the
  /// ``OperationEnvironment``.
  public func jittered(_ jitter: Jitter = .full) -> Backoff {
    var backoff = self
    backoff.jitter = jitter
    return backoff
  }
}

extension Backoff {
  /// Whether there can be a delay above zero.
  var hasDelays: Bool {
    if case .linear(let step) = growth, step > .zero { return true }
    return first > .zero
  }

  /// The delays, one after another.
  package struct Delays {
    private let backoff: Backoff
    /// Without jitter: the next delay, and the one after it for Fibonacci delays.
    private var next: Duration
    private var afterNext: Duration
    /// The last delay that was returned.
    private var last: Duration

    package init(_ backoff: Backoff) {
      self.backoff = backoff
      next = min(backoff.first, backoff.longest)
      afterNext = next
      last = next
    }

    /// Returns the delay after one more failure.
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

    // No overflow: each operand of a sum or product is at most the longest delay, 30 years at most.
    private mutating func advance() {
      let longest = backoff.longest
      switch backoff.growth {
      case .constant: break
      case .linear(let step): next = min(next + min(step, longest), longest)
      case .exponential(let factor):
        // Multiplication by a whole number is exact.
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
      // 53 random bits, scaled to 0...1.
      let share = Double(randomness.next() >> 11) / Double((1 as UInt64) << 53 - 1)
      return min(least + (most - least) * share, most)
    }
  }
}
