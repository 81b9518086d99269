public import Foundation
internal import SystemSupport

/// The error of a response whose body cannot be decoded.
public struct HTTPDecodingError: HTTPRequestError {
  /// The request that failed.
  public let request: HTTPRequestSummary
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The first 4,096 bytes of the body. Empty for the login of an ``HTTPBearerToken``, because the
  /// body contains a token, and its error is the error of other requests.
  public let body: Data
  /// The name of the type that was expected.
  public let expected: String
  /// The error of the decoder, usually a `DecodingError`.
  public let cause: any Error

  /// Always false.
  public var isRetryable: Bool { false }
}

extension HTTPDecodingError: CustomStringConvertible {
  /// The request, the type, the place of the mismatch, and the start of the body.
  public var description: String {
    let said = HTTPBodyExcerpt.text(of: body)
    let reason = (cause as? DecodingError)?.text("the body") ?? "\(cause)"
    return "\(request): cannot decode \(expected) from the body (status \(head.status)): "
      + reason + (said.isEmpty ? "" : " The body begins with: \(said)")
  }
}

extension HTTPDecodingError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
