public import CompositeOperations

/// How often a request to a database is tried, and how long to wait in between.
public struct RequestRetries: Sendable {
  /// Five times in all, after 1, 2, 4 and 8 seconds at most, or after what the database says if that is longer.
  public static let standard = RequestRetries(
    attempts: 5, backoff: .exponential(from: .seconds(1)).capped(at: .seconds(60)).jittered())
  /// Once.
  public static let none = RequestRetries(attempts: 1)

  /// How often a request is tried at most, with the first time.
  public let attempts: Int
  /// How long to wait before the next time, by the clock of the environment. What a database says is waited for if
  /// it is longer.
  public let backoff: Backoff

  /// - Precondition: There is at least one attempt.
  public init(attempts: Int, backoff: Backoff = .none) {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    self.attempts = attempts
    self.backoff = backoff
  }

  /// The waits of one request.
  struct Waits {
    private let retries: RequestRetries
    private var delays: Backoff.Delays
    private var attempt = 1

    init(_ retries: RequestRetries) {
      self.retries = retries
      delays = Backoff.Delays(retries.backoff)
    }

    /// How long to wait for the next attempt; nil if there is none.
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
  /// Runs a request as an operation of its own, after a while if there is one to wait.
  nonisolated(nonsending) func request<Reply: Sendable>(
    _ name: String, after delay: Duration,
    _ send: nonisolated(nonsending) @escaping @Sendable () async throws -> Reply
  ) async throws -> Reply {
    let request = SimpleOperation(send).named(name)
    if delay == .zero { return try await run(request) }
    return try await run(request.delayed(by: delay))
  }
}

/// A request that only reads, tried as often as is said.
struct ReadRequest<Reply: Sendable>: ComposableOperation {
  let operationName: String
  let retries: RequestRetries
  let send: @Sendable () async throws -> Reply

  func perform(in context: OperationContext) async throws -> Reply {
    var waits = RequestRetries.Waits(retries)
    var randomness = context.randomness
    var delay = Duration.zero
    while true {
      do {
        return try await context.request("request", after: delay) { try await send() }
      } catch let error as RecordError where error.isRetriable {
        guard let wait = waits.next(advised: error.retryDelay, using: &randomness) else {
          throw error
        }
        delay = wait
      }
    }
  }
}
