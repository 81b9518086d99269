public import CompositeOperations
public import Foundation

/// A collector did not take spans.
public struct OpenTelemetryExportError: RetryAdvising, CustomStringConvertible {
  /// What kept them from being taken.
  public enum Reason: Sendable {
    /// The collector answered with a status other than 2xx; with the first 500 bytes of what it said.
    case refused(status: Int, body: String)
    /// The collector took the request, but not all spans in it.
    case rejected(spanCount: Int, message: String)
    /// Nobody answered.
    case unreachable(any Error)
  }

  /// Where the request went.
  public let url: URL
  public let reason: Reason
  public let retryDelay: Duration?

  init(url: URL, reason: Reason, retryDelay: Duration? = nil) {
    self.url = url
    self.reason = reason
    self.retryDelay = retryDelay
  }

  /// Whether the same request may be taken later.
  public var isTransient: Bool {
    switch reason {
    case .refused(let status, _): [429, 502, 503, 504].contains(status)
    case .rejected: false
    case .unreachable: true
    }
  }

  public var description: String {
    switch reason {
    case .refused(let status, let body):
      "The collector at \(url) returned status \(status)" + (body.isEmpty ? "." : ": \(body)")
    case .rejected(let spanCount, let message):
      "The collector at \(url) rejected \(spanCount) spans"
        + (message.isEmpty ? "." : ": \(message)")
    case .unreachable(let error):
      "The collector at \(url) cannot be reached: \(error)"
    }
  }
}
