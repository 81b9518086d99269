/// An error of a request over HTTP, which knows whether the request may be made again.
///
/// `retryingHTTP` goes by it; errors of yours may adopt it.
public protocol HTTPRequestError: Error {
  /// What was asked for.
  var request: HTTPRequestSummary { get }
  /// Whether another attempt is worthwhile and does no harm.
  var isRetryable: Bool { get }
}
