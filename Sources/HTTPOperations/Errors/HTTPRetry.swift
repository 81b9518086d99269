public import CompositeOperations

extension ComposableOperation {
  /// Retries the operation if an HTTP request failed and another attempt is worthwhile.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let names = HTTPDataOperation(url).decoding([String].self).retryingHTTP(attempts: 5)
  /// ```
  ///
  /// Another attempt is made if the error is an ``HTTPRequestError`` that is
  /// ``HTTPRequestError/isRetryable``. For the errors of this module, both of these must hold:
  ///
  /// - The failure is transient: a status of 408, 425, 429, or any 5xx except 501, 505 and 511; or
  ///   a connection that was lost, timed out or could not be made.
  /// - The request may be repeated: by its method, by an `Idempotency-Key`, or by
  ///   ``HTTPRequestOptions/isRepeatable``. A request that cannot have reached the server may
  ///   always be repeated.
  ///
  /// The same is true of the error of an ``HTTPInterceptor``. If that fails after the request was
  /// sent, there is another attempt only if the request itself may be repeated, too.
  ///
  /// The delay in a `Retry-After` header, in seconds or until a date by the clock of the server, is
  /// waited for if it is longer than the backoff, with up to a tenth of it more, but at least with
  /// up to a second: clients that were refused at the same time do not return at the same time. The
  /// random numbers are those of the `OperationEnvironment`. If the header is longer than
  /// `longestDelay`, there is no other attempt, because the server would only refuse it. The final
  /// error is a `RetryError` with the errors of all attempts.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts, including the first one.
  ///   - backoff: The delays between attempts, by the clock of the environment.
  ///   - longestDelay: The maximum delay.
  ///   - budget: The time from the start of the run within which the last attempt must begin; nil
  ///     for no limit.
  /// - Precondition: `attempts` is at least 1, and neither `longestDelay` nor `budget` is negative.
  public func retryingHTTP(
    attempts: Int = 3,
    backoff: Backoff = .exponential(from: .seconds(1)).capped(at: .seconds(30)).jittered(),
    longestDelay: Duration = .seconds(300), within budget: Duration? = nil
  ) -> some ComposableOperation<Success> {
    precondition(
      longestDelay >= .zero, "`longestDelay` must not be negative (was \(longestDelay))")
    let policy = RetryPolicy(attempts: attempts, backoff: backoff, within: budget) { error in
      (error as? any HTTPRequestError)?.isRetryable == true
    }
    return retrying(policy) { failure in
      // The delay in the error is capped. A caller that permits longer delays gets them.
      let advised = (failure.error as? HTTPStatusError)?.retryAfter ?? .zero
      if advised > longestDelay { return .stop }
      let spread = advised > .zero ? max(advised / 10, .seconds(1)) * failure.jitter : .zero
      return .retry(after: min(max(failure.delay, advised + spread), longestDelay))
    }
  }
}
