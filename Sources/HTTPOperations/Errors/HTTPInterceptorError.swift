public import Foundation

/// The error of a request whose interceptor failed after the request was sent, so that it must not
/// be sent again.
///
/// The error of an interceptor is normally the error of the request. This one takes its place only
/// if `retryingHTTP` would otherwise repeat a request that a server may have processed: if the
/// error of the interceptor is an ``HTTPRequestError`` that is retryable, such as the timeout of a
/// GET that the interceptor sends, and the request may not be repeated, such as a POST.
public struct HTTPInterceptorError: HTTPRequestError {
  /// The request that was sent, not a request of the interceptor.
  public let request: HTTPRequestSummary
  /// The error of the interceptor.
  public let cause: any Error

  /// Always false.
  public var isRetryable: Bool { false }

  /// The error of a request that was sent, for an error of one of its interceptors.
  static func error(
    of request: HTTPRequestSummary, for cause: any Error
  ) -> any Error {
    guard let error = cause as? any HTTPRequestError, error.isRetryable, !request.isRepeatable
    else { return cause }
    return HTTPInterceptorError(request: request, cause: cause)
  }
}

extension HTTPInterceptorError: CustomStringConvertible {
  /// The request, the error of the interceptor, and what to do.
  public var description: String {
    "\(request) failed: an interceptor failed after the request was sent: \(cause) The server may "
      + "have processed the request, so it is not retried: set an Idempotency-Key, or isRepeatable "
      + "of the options, if it may be repeated."
  }
}

extension HTTPInterceptorError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
