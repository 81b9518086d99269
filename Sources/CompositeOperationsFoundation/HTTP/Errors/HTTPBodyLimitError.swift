/// The body of a response is longer than was allowed.
public struct HTTPBodyLimitError: HTTPRequestError, CustomStringConvertible {
  public let request: HTTPRequestSummary
  /// How many bytes were allowed.
  public let limit: Int
  /// How many the server said there are; nil if it did not say.
  public let announced: Int?

  public var isRetryable: Bool { false }

  public var description: String {
    let length = announced.map { " of \($0) bytes" } ?? ""
    return "\(request) failed: the response body\(length) exceeds the limit of \(limit) bytes. "
      + "Raise the bodyLimit of the options, or download the body to a file."
  }
}
