public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The status and the headers of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The URL of the response, after redirects.
  public let url: URL
  /// The status code.
  public let status: Int
  /// The headers.
  public let headers: HTTPHeaders
}

extension HTTPResponseHead {
  init?(_ response: URLResponse?, to url: URL) {
    guard let response = response as? HTTPURLResponse else { return nil }
    self.init(
      url: response.url ?? url, status: response.statusCode, headers: HTTPHeaders(response))
  }
}

/// The headers of a response, whose names are case-insensitive.
///
/// ```swift
/// import HTTPOperations
///
/// let response = try await HTTPDataOperation(url).run().get()
/// let type = response.headers["content-type"]
/// ```
public struct HTTPHeaders: Sendable, Hashable {
  /// The values by name, with the names as the server sent them.
  public let fields: [String: String]

  /// Creates headers.
  ///
  /// - Parameter fields: The values by name.
  public init(_ fields: [String: String] = [:]) { self.fields = fields }

  /// The value of a header; nil if there is none.
  ///
  /// - Complexity: Linear in the number of headers.
  public subscript(name: String) -> String? {
    fields[name] ?? fields.first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
  }
}

extension HTTPHeaders {
  init(_ response: HTTPURLResponse) {
    var fields: [String: String] = [:]
    for (name, value) in response.allHeaderFields {
      if let name = name as? String { fields[name] = "\(value)" }
    }
    self.init(fields)
  }

  /// Whether the body is compressed, or encoded in another way.
  var isEncoded: Bool {
    let encoding = self["Content-Encoding"]?.trimmingCharacters(in: .whitespaces).lowercased()
    return !["", "identity"].contains(encoding ?? "")
  }

  /// The length of the body in bytes, if the server announced it and the body is not encoded.
  var contentLength: Int? {
    if isEncoded { return nil }
    return self["Content-Length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
  }
}

/// Dates in headers (RFC 9110, section 5.6.7): the current format, and the two obsolete ones, which
/// must be accepted.
enum HTTPDate {
  private static let forms = [
    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
  ]

  /// - Returns: Nil if the text is malformed.
  static func date(from text: String) -> Date? {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(secondsFromGMT: 0)
    for form in forms {
      format.dateFormat = form
      if let date = format.date(from: text) { return date }
    }
    return nil
  }
}
