public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A server answered with a status that is no success.
public struct HTTPStatusError: HTTPRequestError, RetryAdvising {
  public let request: HTTPRequestSummary
  public let head: HTTPResponseHead
  /// The first part of the body: as many bytes as ``HTTPRequestOptions/errorBodyLimit`` says at most.
  public let body: Data

  public var status: Int { head.status }
  public var headers: HTTPHeaders { head.headers }

  /// How long the server asks to wait (`Retry-After`), by its own clock; nil if it says nothing.
  public var retryAfter: Duration? { RetryAfter.delay(in: headers) }

  /// What the server asks for, and 5 minutes at most.
  public var retryDelay: Duration? { retryAfter.map { min($0, RetryAfter.longest) } }

  /// Whether the server may do later what it did not now: 408, 425, 429 and every 5xx, known or not, other
  /// than 501 and 505, which it will never do, and 511, where a person has to log in to the network.
  public var isTransient: Bool {
    switch status {
    case 408, 425, 429: true
    case 501, 505, 511: false
    default: (500...599).contains(status)
    }
  }

  public var isRetryable: Bool { isTransient && request.isRepeatable }
}

extension HTTPStatusError: CustomStringConvertible {
  public var description: String {
    let reason = HTTPURLResponse.localizedString(forStatusCode: status)
    let said = HTTPBodyExcerpt.text(of: body)
    return "\(request) failed with status \(status) (\(reason))" + (said.isEmpty ? "" : ": \(said)")
      + (said.last.map { ".!?".contains($0) } == true ? " " : ". ") + advice
  }

  private var advice: String {
    if let delay = retryAfter {
      return "The server asks to wait \(delay.components.seconds) s before another request."
    }
    return switch status {
    case 300...399: "Request the URL in the Location header."
    case 401: "Send credentials that the server accepts, usually in the Authorization header."
    case 403: "The server does not allow this request: use other credentials."
    case 404, 410: "Check the URL."
    case 405: "Use a method that is listed in the Allow header of the response."
    case 413: "Send a smaller body."
    case 407, 511: "Log in to the network first."
    case 429: "Send requests less often."
    default:
      isTransient ? "Try again later." : "Compare the request with the documentation of the server."
    }
  }
}
