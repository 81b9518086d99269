public import CompositeOperations

/// How often a request to a database is attempted, and the delays between attempts.
///
/// ```swift
/// import CompositeOperations
/// import RecordOperations
///
/// let retries = RequestRetries(attempts: 3, backoff: .constant(.seconds(2)))
/// let query = QueryRecords("Book", in: MemoryRecordDatabase(), retries: retries)
/// ```
public struct RequestRetries: Sendable {
  /// Five attempts, with delays of at most 1, 2, 4 and 8 seconds, or as long as the database
  /// advises if that is longer.
  public static let standard = RequestRetries(
    attempts: 5, backoff: .exponential(from: .seconds(1)).capped(at: .seconds(60)).jittered())
  /// One attempt.
  public static let none = RequestRetries(attempts: 1)

  /// The maximum number of attempts, including the first one.
  public let attempts: Int
  /// The delays between attempts, by the clock of the environment. A longer delay that a database
  /// advises is used instead.
  public let backoff: Backoff

  /// Creates a policy for retries.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts, including the first one.
  ///   - backoff: The delays between attempts.
  /// - Precondition: `attempts` is at least 1.
  public init(attempts: Int, backoff: Backoff = .none) {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    self.attempts = attempts
    self.backoff = backoff
  }

  /// The delays of one request.
  struct Delays {
    private let retries: RequestRetries
    private var delays: Backoff.Delays
    private var attempt = 1

    init(_ retries: RequestRetries) {
      self.retries = retries
      delays = Backoff.Delays(retries.backoff)
    }

    /// Returns the delay before the next attempt, or `nil` if no attempts are left.
    mutating func next(
      advised: Duration?, using randomness: inout some RandomNumberGenerator
    ) -> Duration? {
      guard attempt < retries.attempts else { return nil }
      attempt += 1
      return max(advised ?? .zero, delays.delay(using: &randomness))
    }
  }
}

extension OperationContext {
  /// Runs a request as a child operation, after a delay.
  nonisolated(nonsending) func request<Reply: Sendable>(
    _ name: String, after delay: Duration,
    _ send: nonisolated(nonsending) @escaping @Sendable () async throws -> Reply
  ) async throws -> Reply {
    let request = SimpleOperation(send).named(name)
    if delay == .zero { return try await run(request) }
    return try await run(request.delayed(by: delay))
  }
}

/// A request that only reads and is retried by a policy.
struct ReadRequest<Reply: Sendable>: ComposableOperation {
  let operationName: String
  let retries: RequestRetries
  let send: @Sendable () async throws -> Reply

  func perform(in context: OperationContext) async throws -> Reply {
    var delays = RequestRetries.Delays(retries)
    var randomness = context.randomness
    var delay = Duration.zero
    while true {
      do {
        return try await context.request("request", after: delay) { try await send() }
      } catch let error as RecordError where error.isRetriable {
        guard let next = delays.next(advised: error.retryDelay, using: &randomness) else {
          throw error
        }
        delay = next
      }
    }
  }
}
