public import Foundation

/// The status and the headers of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The URL of the response, after redirects.
  public let url: URL
  /// The status code.
  public let status: Int
  /// The headers.
  public let headers: HTTPHeaders
  /// The codings in which the body is delivered, such as `aws-chunked`; nil if it has none, or if
  /// all were undone. Not nil only for ``HTTPRequestOptions/BodyDecoding/lenient``, or if the
  /// request has an `Accept-Encoding` of its own.
  public private(set) var undecodedCoding: String?

  /// How long the phases of the request took; nil on Apple platforms and from a fake server. It is
  /// not a part of what `==` compares.
  public let timings: HTTPTimings?

  package init(url: URL, status: Int, headers: HTTPHeaders, timings: HTTPTimings? = nil) {
    self.timings = timings
    self.url = url
    self.status = status
    self.headers = headers
  }

  func withUndecodedCoding(_ coding: String?) -> HTTPResponseHead {
    var head = self
    head.undecodedCoding = coding
    return head
  }
}

extension HTTPResponseHead {
  /// Whether all but the timings is the same.
  public static func == (one: HTTPResponseHead, other: HTTPResponseHead) -> Bool {
    one.url == other.url && one.status == other.status && one.headers == other.headers
      && one.undecodedCoding == other.undecodedCoding
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(status)
    hasher.combine(headers)
  }
}

extension HTTPHeaders {
  /// Whether `Last-Modified` is at least a second before `Date`. What was modified in the current
  /// second may be modified in it again.
  var isModifiedBeforeDate: Bool {
    guard let modified = self["Last-Modified"].flatMap({ HTTPDate.date(from: $0) }),
      let now = self["Date"].flatMap({ HTTPDate.date(from: $0) })
    else { return false }
    return now.timeIntervalSince(modified) >= 1
  }
}

/// Dates in headers (RFC 9110, section 5.6.7): the current format, and the two obsolete ones, which
/// must be accepted.
package enum HTTPDate {
  private static let forms = [
    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
  ]

  /// - Returns: Nil if the text is malformed.
  package static func date(from text: String) -> Date? {
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
