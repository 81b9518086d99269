public import Foundation

/// The error of a response whose body cannot be decoded.
public struct HTTPDecodingError: HTTPRequestError {
  /// The request that failed.
  public let request: HTTPRequestSummary
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The first 4,096 bytes of the body.
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
    return "\(request): cannot decode \(expected) from the body (status \(head.status)): "
      + Self.text(of: cause) + (said.isEmpty ? "" : " The body begins with: \(said)")
  }

  /// The error of the decoder, with its place: `[3].owner.name`.
  private static func text(of cause: any Error) -> String {
    guard let cause = cause as? DecodingError else { return "\(cause)" }
    return switch cause {
    case .typeMismatch(let type, let context):
      "\(place(context.codingPath)) is not of type \(type). \(context.debugDescription)"
    case .valueNotFound(let type, let context):
      "\(place(context.codingPath)) is null, not of type \(type). \(context.debugDescription)"
    case .keyNotFound(let key, let context):
      "\(place(context.codingPath + [key])) is missing."
    case .dataCorrupted(let context):
      "\(place(context.codingPath)) is malformed. \(context.debugDescription)"
    @unknown default: "\(cause)"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
    return text.isEmpty ? "the body" : text.hasPrefix(".") ? String(text.dropFirst()) : text
  }
}

extension HTTPDecodingError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
