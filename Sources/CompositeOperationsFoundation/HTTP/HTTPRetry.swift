public import CompositeOperations

extension ComposableOperation {
  /// The same operation again where a request over HTTP failed and another attempt is worthwhile.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let names = HTTPDataOperation(url).decoding([String].self).retryingHTTP(attempts: 5)
  /// ```
  ///
  /// It is attempted again after errors that say so, ``HTTPRequestError/isRetryable``:
  ///
  /// - 408, 425, 429 and every 5xx but 501, 505 and 511, and connections that were lost or not made;
  /// - if the request may be repeated: by its method, by an `Idempotency-Key`, or because
  ///   ``HTTPRequestOptions/isRepeatable`` says so. One that cannot have reached the server may be in any case.
  ///
  /// What the server says by `Retry-After` is waited for, in seconds or until a date by its own clock, if that
  /// is longer than the backoff. Where it is longer than the longest delay, no other attempt is made: the server would
  /// only refuse it. In the end the error is a `RetryError` with that of every attempt.
  ///
  /// - Parameters:
  ///   - attempts: How many attempts there are at most, with the first one.
  ///   - backoff: How long to wait before the next one, by the clock of the environment.
  ///   - longestDelay: How long to wait at most.
  ///   - budget: How long the run may take before the last attempt begins; nil for any time.
  /// - Precondition: There is at least one attempt, and neither time is negative.
  public func retryingHTTP(
    attempts: Int = 3,
    backoff: Backoff = .exponential(from: .seconds(1)).capped(at: .seconds(30)).jittered(),
    longestDelay: Duration = .seconds(300), within budget: Duration? = nil
  ) -> some ComposableOperation<Success> {
    precondition(
      longestDelay >= .zero, "`longestDelay` must not be negative (was \(longestDelay))")
    return retrying(upTo: attempts, backoff: backoff, within: budget) { failure in
      guard let error = failure.error as? any HTTPRequestError, error.isRetryable else {
        return .stop
      }
      // The advice of the error is cut, and whoever allows for more gets more.
      let advised = (error as? HTTPStatusError)?.retryAfter ?? .zero
      if advised > longestDelay { return .stop }
      return .retry(after: min(max(failure.delay, advised), longestDelay))
    }
  }
}
