public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The error of a response whose status is no success.
public struct HTTPStatusError: HTTPRequestError, RetryAdvising {
  /// The request that failed.
  public let request: HTTPRequestSummary
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The first part of the body, at most ``HTTPRequestOptions/errorBodyLimit`` bytes.
  public let body: Data

  /// The status code of the response.
  public var status: Int { head.status }
  /// The headers of the response.
  public var headers: HTTPHeaders { head.headers }

  /// The delay in the `Retry-After` header, by the clock of the server; nil if there is none.
  public var retryAfter: Duration? { RetryAfter.delay(in: headers) }

  /// The delay in the `Retry-After` header, at most 5 minutes; nil if there is none.
  public var retryDelay: Duration? { retryAfter.map { min($0, RetryAfter.longest) } }

  /// Whether the same request may succeed later: after 408, 425, 429 and every 5xx, including
  /// unassigned ones. The exceptions are 501 and 505, which are permanent, and 511, after which a
  /// person must log in to the network.
  public var isTransient: Bool {
    switch status {
    case 408, 425, 429: true
    case 501, 505, 511: false
    default: (500...599).contains(status)
    }
  }

  /// Whether the failure is transient and the request may be repeated.
  public var isRetryable: Bool { isTransient && request.isRepeatable }
}

extension HTTPStatusError: CustomStringConvertible {
  /// The request, the status, the start of the body, and what to do.
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
    case 304: "Use the earlier response, or remove the condition from the request."
    case 300...399: "Request the URL in the Location header."
    case 401: "Send credentials that the server accepts, usually in the Authorization header."
    case 403: "The server does not allow this request: use other credentials."
    case 404, 410: "Check the URL."
    case 405: "Use a method that is listed in the Allow header of the response."
    case 413: "Send a smaller body."
    case 407: "Put a user and a password that the proxy accepts into the URL of the proxy."
    case 511: "Log in to the network first."
    case 429: "Send requests less often."
    default:
      isTransient ? "Try again later." : "Compare the request with the documentation of the server."
    }
  }
}

extension HTTPStatusError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

/// The delay in a `Retry-After` header (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// The longest delay unless the caller permits more: an export of a trace must not wait for a
  /// day.
  static let longest = Duration.seconds(300)

  /// - Returns: Nil if there is no such header, or if it is malformed.
  static func delay(in headers: HTTPHeaders) -> Duration? {
    guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces) else {
      return nil
    }
    if !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }) {
      return .seconds(Int(text) ?? .max)
    }
    guard let moment = HTTPDate.date(from: text) else { return nil }
    // Relative to the clock of the server, because the date is from that clock.
    let now = headers["Date"].flatMap { HTTPDate.date(from: $0) } ?? Date()
    return .seconds(max(0, moment.timeIntervalSince(now)))
  }
}
