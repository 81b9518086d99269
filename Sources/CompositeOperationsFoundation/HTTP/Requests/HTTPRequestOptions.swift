/// How a request is made, where that is not as it usually is.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let order = HTTPDataOperation(url, options: HTTPRequestOptions(isRepeatable: true))
/// ```
public struct HTTPRequestOptions: Sendable, Hashable {
  /// What is done where the server sends the request elsewhere.
  public enum Redirects: Sendable, Hashable {
    /// The request goes there, a number of times at most. `Authorization`, `Cookie` and
    /// `Proxy-Authorization` stay behind where that is another host, port or scheme.
    case followed(atMost: Int)
    /// The response that says so is the result.
    case notFollowed
  }

  /// What is done where the server sends the request elsewhere.
  public var redirects: Redirects
  /// Whether the request may be made again; nil if that depends on its method and on whether it has an
  /// `Idempotency-Key`.
  public var isRepeatable: Bool?
  /// How many bytes of a body are kept in memory at most. A longer one is an ``HTTPBodyLimitError``.
  ///
  /// On Linux, Foundation keeps the body of a redirect in memory, whatever its length, and shows it to nobody
  /// before its end.
  public var bodyLimit: Int
  /// How many bytes of a body an ``HTTPStatusError`` keeps. The rest is not waited for.
  public var errorBodyLimit: Int

  /// - Parameters:
  ///   - redirects: What is done where the server sends the request elsewhere.
  ///   - isRepeatable: Whether the request may be made again; nil if that depends on the request.
  ///   - bodyLimit: How many bytes of a body are kept in memory at most.
  ///   - errorBodyLimit: How many bytes of a body an error keeps.
  /// - Precondition: No limit is negative.
  public init(
    redirects: Redirects = .followed(atMost: 20), isRepeatable: Bool? = nil,
    bodyLimit: Int = 64 << 20, errorBodyLimit: Int = 4_096
  ) {
    precondition(
      bodyLimit >= 0 && errorBodyLimit >= 0,
      "limits must not be negative (were \(bodyLimit) and \(errorBodyLimit) bytes)")
    self.redirects = redirects
    self.isRepeatable = isRepeatable
    self.bodyLimit = bodyLimit
    self.errorBodyLimit = errorBodyLimit
  }
}
