public import Foundation

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

/// The error of a response whose body is larger than the limit.
public struct HTTPBodyLimitError: HTTPRequestError, CustomStringConvertible {
  /// The request that failed.
  public let request: HTTPRequestSummary
  /// The limit in bytes.
  public let limit: Int
  /// The size that the server announced, in bytes; nil if it announced none.
  public let announced: Int?

  /// Always false.
  public var isRetryable: Bool { false }

  /// The request, the sizes, and what to do.
  public var description: String {
    let length = announced.map { " of \($0) bytes" } ?? ""
    return "\(request) failed: the response body\(length) exceeds the limit of \(limit) bytes. "
      + "Raise the bodyLimit of the options, or download the body to a file."
  }
}

extension HTTPBodyLimitError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}

/// The excerpt of a body that errors show.
enum HTTPBodyExcerpt {
  /// The first characters in one line; empty if the body is not text.
  static func text(of body: Data) -> String {
    // A character that is cut off at the end does not make the body binary.
    var text = String(decoding: body.prefix(400), as: UTF8.self)
    while text.last == "\u{FFFD}" { text.removeLast() }
    let isText = text.unicodeScalars.allSatisfy {
      $0 != "\u{FFFD}" && ($0 >= " " || "\t\r\n".unicodeScalars.contains($0))
    }
    guard isText else { return "" }
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.count > 200 ? line.prefix(200) + "…" : line
  }
}
