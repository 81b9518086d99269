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

/// The error of a response whose body, or of a download whose file, is larger than the limit.
public struct HTTPBodyLimitError: HTTPRequestError, CustomStringConvertible {
  /// The request that failed.
  public let request: HTTPRequestSummary
  /// The limit in bytes.
  public let limit: Int
  /// The size that the server announced, in bytes; nil if it announced none.
  public let announced: Int?
  /// Whether the limit is the `downloadLimit` of the options.
  var isOfDownload = false

  /// Always false.
  public var isRetryable: Bool { false }

  /// The request, the sizes, and what to do.
  public var description: String {
    let length = announced.map { " of \($0) bytes" } ?? ""
    let (thing, advice) =
      isOfDownload
      ? ("the file", "Raise the downloadLimit of the options.")
      : (
        "the response body",
        "Raise the bodyLimit of the options, or download the body to a file."
      )
    return "\(request) failed: \(thing)\(length) exceeds the limit of \(limit) bytes. \(advice)"
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
