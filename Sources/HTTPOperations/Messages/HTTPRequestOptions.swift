/// The options of an HTTP request.
///
/// ```swift
/// import HTTPOperations
///
/// let order = HTTPDataOperation(url, options: HTTPRequestOptions(isRepeatable: true))
/// ```
public struct HTTPRequestOptions: Sendable, Hashable {
  /// A way to handle redirects.
  public enum Redirects: Sendable, Hashable {
    /// Redirects are followed, up to a limit. `Authorization`, `Cookie` and `Proxy-Authorization`
    /// are removed for another host, port or scheme.
    case followed(atMost: Int)
    /// Redirects are not followed. The response is the result.
    case notFollowed
  }

  /// A way to decode bodies (`Content-Encoding`).
  public enum BodyDecoding: Sendable, Hashable {
    /// A body with an unknown coding is an error, as are bytes after the compressed data.
    case strict
    /// A body with an unknown coding is delivered as it was sent, with the coding in
    /// ``HTTPResponseHead/undecodedCoding``. Bytes after the compressed data are ignored.
    case lenient
  }

  /// How redirects are handled.
  public var redirects: Redirects
  /// Whether the request may be repeated; nil if that depends on its method and on an
  /// `Idempotency-Key`.
  public var isRepeatable: Bool?
  /// The maximum size of a body in memory, in bytes. A larger one is an ``HTTPBodyLimitError``.
  public var bodyLimit: Int
  /// The maximum size of the body in an ``HTTPStatusError``, in bytes. The rest is not waited for,
  /// and neither is a part that does not arrive within 5 seconds.
  public var errorBodyLimit: Int
  /// How bodies are decoded.
  public var bodyDecoding: BodyDecoding
  /// The maximum size of a downloaded file, decompressed, in bytes; nil for no limit. A larger one
  /// is an ``HTTPBodyLimitError``, as soon as its size is known.
  public var downloadLimit: Int?

  /// Creates options.
  ///
  /// - Parameters:
  ///   - redirects: How redirects are handled.
  ///   - isRepeatable: Whether the request may be repeated; nil if that depends on the request.
  ///   - bodyLimit: The maximum size of a body in memory, in bytes.
  ///   - errorBodyLimit: The maximum size of the body in an error, in bytes.
  ///   - bodyDecoding: How bodies are decoded.
  ///   - downloadLimit: The maximum size of a downloaded file in bytes; nil for no limit.
  /// - Precondition: No limit is negative.
  public init(
    redirects: Redirects = .followed(atMost: 20), isRepeatable: Bool? = nil,
    bodyLimit: Int = 64 << 20, errorBodyLimit: Int = 4_096,
    bodyDecoding: BodyDecoding = .strict, downloadLimit: Int? = nil
  ) {
    let limits = [bodyLimit, errorBodyLimit, downloadLimit ?? 0]
    precondition(
      limits.allSatisfy { $0 >= 0 }, "limits must not be negative (were \(limits) bytes)")
    self.redirects = redirects
    self.isRepeatable = isRepeatable
    self.bodyLimit = bodyLimit
    self.errorBodyLimit = errorBodyLimit
    self.bodyDecoding = bodyDecoding
    self.downloadLimit = downloadLimit
  }
}
