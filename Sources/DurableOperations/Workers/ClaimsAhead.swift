internal import CompositeOperations

/// Decides whether a worker claims runs before it has places for them, so that no place is empty while
/// the store claims the next ones.
///
/// It does where claims are costly, and while its runs are short: no other worker can take such a run
/// meanwhile.
final class ClaimsAhead: Sendable {
  /// The mean duration up to which runs are short.
  private static let longest = Duration.milliseconds(50)
  /// How long a claimed run waits for a place. It is released then.
  static let longestWait = Duration.seconds(1)

  /// The most runs that are claimed ahead.
  private let most: Int
  /// The mean duration of the last runs; nil if it is not known.
  private let mean = Lock<Duration?>(nil)

  /// - Parameters:
  ///   - width: The number of places.
  ///   - isUseful: Whether claims are costly.
  init(width: Int, isUseful: Bool) { most = isUseful ? (width + 1) / 2 : 0 }

  /// How many runs to claim ahead now.
  var count: Int { mean.withLock { $0.map { $0 <= Self.longest } ?? false } ? most : 0 }

  /// A run has used its place for some time.
  func ended(after duration: Duration) {
    mean.withLock { $0 = $0.map { ($0 * 3 + duration) / 4 } ?? duration }
  }

  /// A run that was claimed ahead has found no place.
  func failed() { mean.withLock { $0 = nil } }
}
