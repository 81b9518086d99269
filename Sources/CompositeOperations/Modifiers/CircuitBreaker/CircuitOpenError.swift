/// The error of an operation that a circuit breaker has refused, before its body began.
///
/// It advises a retry to wait for the next probe. While a probe runs, it advises nothing, and the
/// backoff decides:
///
/// ```swift
/// let server = CircuitBreaker(opensAfterFailures: 5, halfOpensAfter: .seconds(30), name: "server")
/// let patient = fetch.guarded(by: server)
///   .retrying(attempts: 3, backoff: .exponential(from: .milliseconds(200)))
/// ```
public struct CircuitOpenError: RetryAdvising, Hashable, Codable, Sendable {
  /// A state in which a circuit breaker refuses operations.
  public enum State: String, Hashable, Codable, Sendable {
    /// No operation may begin.
    case open
    /// No operation may begin in addition to the probes.
    case halfOpen
  }

  /// The name of the circuit breaker.
  public let name: String
  /// The state of the circuit breaker.
  public let state: State
  /// The time until the next probe may begin. While the circuit breaker is half-open, it may begin
  /// earlier, when the present probes have ended.
  public let timeUntilProbe: Duration

  /// Creates the error of a refused operation.
  ///
  /// - Parameters:
  ///   - name: The name of the circuit breaker.
  ///   - state: The state of the circuit breaker.
  ///   - timeUntilProbe: The time until the next probe may begin.
  public init(name: String, state: State, timeUntilProbe: Duration) {
    self.name = name
    self.state = state
    self.timeUntilProbe = timeUntilProbe
  }

  /// The time until the next probe; nil while the circuit breaker is half-open, because a probe may
  /// then decide at any time.
  public var retryDelay: Duration? { state == .open ? timeUntilProbe : nil }
}

extension CircuitOpenError: CustomStringConvertible {
  public var description: String {
    switch state {
    case .halfOpen:
      "circuit breaker '\(name)' is half-open: it waits for its probes, for at most "
        + "\(timeUntilProbe), before it lets other operations begin"
    case .open:
      "circuit breaker '\(name)' is open after failures: the next probe may begin in "
        + "\(timeUntilProbe)"
    }
  }
}
