public import CompositeOperations
public import Foundation
internal import SystemSupport

/// The error of a collector that did not accept spans.
public struct OpenTelemetryExportError: RetryAdvising, CustomStringConvertible {
  /// A reason why spans were not accepted.
  public enum Reason: Sendable {
    /// The collector returned a status other than 2xx, with the first 500 bytes of its response.
    case refused(status: Int, body: String)
    /// The collector accepted the request, but not all spans in it.
    case rejected(spanCount: Int, message: String)
    /// There was no response.
    case unreachable(any Error)
    /// Sending has not ended within a time limit.
    case tooSlow(limit: Duration)
  }

  /// The URL of the request.
  public let url: URL
  /// Why the spans were not accepted.
  public let reason: Reason
  /// The delay that the collector asks for before a retry, at most 5 minutes; nil if it asks for
  /// none.
  public let retryDelay: Duration?

  init(url: URL, reason: Reason, retryDelay: Duration? = nil) {
    self.url = url
    self.reason = reason
    self.retryDelay = retryDelay
  }

  /// Whether the collector may accept the same request later.
  public var isTransient: Bool {
    switch reason {
    case .refused(let status, _): [429, 502, 503, 504].contains(status)
    case .rejected: false
    case .unreachable, .tooSlow: true
    }
  }

  /// The URL of the collector and its response.
  public var description: String {
    switch reason {
    case .refused(let status, let body):
      "The collector at \(url.withoutSecrets) returned status \(status)"
        + (body.isEmpty ? "." : ": \(body)")
    case .rejected(let spanCount, let message):
      "The collector at \(url.withoutSecrets) rejected \(spanCount) spans"
        + (message.isEmpty ? "." : ": \(message)")
    case .unreachable(let error):
      "The collector at \(url.withoutSecrets) cannot be reached: \(error)"
    case .tooSlow(let limit):
      "The collector at \(url.withoutSecrets) has not accepted all runs within \(limit.readableTime). Check whether it "
        + "answers, or raise the limit."
    }
  }
}

extension OpenTelemetryExportError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

extension OpenTelemetryExportError: CustomReflectable {
  /// The URL without secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "url": url.withoutSecrets, "reason": reason, "retryDelay": retryDelay as Any,
      ], displayStyle: .struct)
  }
}
