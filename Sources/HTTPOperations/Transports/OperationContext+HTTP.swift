internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

// The runs of requests have attributes, named by OpenTelemetry's semantic conventions for HTTP
// clients.
extension OperationContext {
  /// Sets the attributes of a request that is about to be sent.
  ///
  /// - Parameters:
  ///   - summary: The summary of the request.
  ///   - url: The URL of the request.
  ///   - resendCount: How many requests the run has sent before: redirects and repetitions.
  func willSend(_ summary: HTTPRequestSummary, to url: URL, resendCount: Int) {
    setAttributes(Self.attributes(of: summary, to: url, resendCount: resendCount))
  }

  private static func attributes(
    of summary: HTTPRequestSummary, to url: URL, resendCount: Int
  ) -> [String: OperationAttribute] {
    var attributes: [String: OperationAttribute] = [
      "span.kind": "client", "http.request.method": .text(summary.method),
      "url.full": .text(url.withoutSecrets), "server.address": .text(url.host ?? ""),
      "server.port": .integer(url.port ?? url.standardPort),
    ]
    if resendCount > 0 { attributes["http.request.resend_count"] = .integer(resendCount) }
    return attributes
  }

  /// Sets the attributes of a response.
  func received(_ head: HTTPResponseHead) {
    setAttributes(["http.response.status_code": .integer(head.status)])
  }

  /// Sets the attribute of the error of a request. A cancellation is none.
  func failed(by error: any Error) {
    if error is CancellationError { return }
    setAttributes(["error.type": .text(Self.type(of: error))])
  }

  /// The status, the reason without its details, or the name of the type.
  private static func type(of error: any Error) -> String {
    switch error {
    case let error as HTTPStatusError: "\(error.status)"
    case let error as HTTPTransferError: String("\(error.reason)".prefix { $0 != "(" })
    default: String(describing: Swift.type(of: error))
    }
  }
}
