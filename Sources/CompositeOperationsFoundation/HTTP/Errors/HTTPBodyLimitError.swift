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
