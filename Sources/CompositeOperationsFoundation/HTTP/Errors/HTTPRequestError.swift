/// An error of an HTTP request, which determines whether the request is retried.
///
/// `retryingHTTP` retries errors that are ``isRetryable``. Your own errors may conform to this
/// protocol.
public protocol HTTPRequestError: Error {
  /// The request that failed.
  var request: HTTPRequestSummary { get }
  /// Whether another attempt is worthwhile and safe.
  var isRetryable: Bool { get }
}
