internal import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A response that a cache keeps, and the text of its file: a hash of the rest in a line, the head
/// as JSON in a line, and the body.
struct CachedResponse: Sendable {
  private struct Head: Codable {
    /// See ``CachedRequest/key``: a file may have been renamed.
    let key: String
    /// The names of the headers in `Vary`, in lower case.
    let vary: [String]
    /// Random, so that equal credentials have different hashes in different files.
    let salt: String
    /// See ``CachedRequest/variant(by:salt:)``.
    let variant: String
    /// The names and values of the headers of the response.
    let fields: [[String]]
  }

  private let head: Head
  let body: Data

  private var headers: HTTPHeaders {
    HTTPHeaders(head.fields.map { .init(name: $0[0], value: $0[1]) })
  }

  /// The headers of a request for which the response is used: if only its date is known, all of
  /// them, because another resource may have the same date.
  private static func variantNames(_ headers: HTTPHeaders, vary: [String]) -> [String]? {
    headers.entityTag == nil ? nil : vary
  }

  /// - Returns: Nil if the response must not be kept, or could not be confirmed later.
  init?(_ response: HTTPDataResponse, of request: CachedRequest) {
    let headers = response.headers
    let vary = headers["Vary"].map(HTTPHeaders.list) ?? []
    guard response.status == 200, request.isSent(to: response.url),
      response.head.undecodedCoding == nil, !vary.contains("*"),
      !headers.forbidsStoring,
      headers["ETag"] == nil
        ? headers.isModifiedBeforeDate && !request.needsTag : headers.entityTag != nil
    else { return nil }
    let fields = headers.fields.filter { !$0.isNamed("Set-Cookie") }
    let salt = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
    let names = Self.variantNames(headers, vary: vary)
    head = Head(
      key: request.key, vary: vary, salt: salt, variant: request.variant(by: names, salt: salt),
      fields: fields.map { [$0.name, $0.value] })
    body = response.body
  }

  /// Reads the bytes of a file.
  ///
  /// - Returns: Nil if they are damaged or belong to another request.
  init?(_ bytes: [UInt8], of request: CachedRequest) {
    let lines = bytes.split(separator: .lineFeed, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3,
      lines[0].elementsEqual(Self.hash(of: bytes[lines[1].startIndex...]).utf8),
      let head = try? JSONDecoder().decode(Head.self, from: Data(lines[1])),
      head.key == request.key, head.fields.allSatisfy({ $0.count == 2 })
    else { return nil }
    self.head = head
    body = Data(lines[2])
    let names = Self.variantNames(headers, vary: head.vary)
    guard head.variant == request.variant(by: names, salt: head.salt) else { return nil }
    if request.needsTag, headers.entityTag == nil { return nil }
  }

  /// The bytes of the file; nil if there are none.
  var bytes: [UInt8]? {
    guard let head = try? JSONEncoder().encode(head) else { return nil }
    let rest = Array(head) + [.lineFeed] + body
    return Array(Self.hash(of: rest[...]).utf8) + [.lineFeed] + rest
  }

  private static func hash(of bytes: ArraySlice<UInt8>) -> String {
    var hash = ContentHash()
    hash.append(bytes.span)
    return hash.text
  }

  /// The request that asks whether the response is still current.
  func condition(of request: URLRequest) -> URLRequest {
    var request = request
    if let tag = headers.entityTag {
      request.setValue(tag, forHTTPHeaderField: "If-None-Match")
    } else {
      request.setValue(headers["Last-Modified"], forHTTPHeaderField: "If-Modified-Since")
    }
    return request
  }

  /// Returns the head of the response with the headers of a 304 (RFC 9111, section 3.2).
  ///
  /// - Returns: Nil if the 304 is about another response.
  func head(confirmedBy other: HTTPResponseHead, of request: CachedRequest) -> HTTPResponseHead? {
    guard request.isSent(to: other.url) else { return nil }
    guard isConfirmed(by: other.headers) else { return nil }
    let new = other.headers.fields.filter { !Self.unchanged.contains($0.name.lowercased()) }
    let old = headers.fields.filter { field in !new.contains { $0.isNamed(field.name) } }
    return HTTPResponseHead(
      url: other.url, status: 200, headers: HTTPHeaders(old + new), timings: other.timings)
  }

  /// Whether a 304 is about this response.
  ///
  /// Without an `ETag`, it must repeat the date: many servers also answer 304 if their file is
  /// older than the date, such as after an earlier version of it was restored.
  private func isConfirmed(by other: HTTPHeaders) -> Bool {
    let (date, otherDate) = (headers["Last-Modified"], other["Last-Modified"])
    guard let tag = headers.entityTag else { return date == otherDate && other["ETag"] == nil }
    if let date, let otherDate, date != otherDate { return false }
    return HTTPHeaders.weakTag(other["ETag"] ?? tag) == HTTPHeaders.weakTag(tag)
  }

  /// The headers about the message itself.
  private static let unchanged = [
    "connection", "content-encoding", "content-length", "content-range", "content-type",
    "keep-alive", "transfer-encoding",
  ]
}

extension HTTPHeaders {
  /// Whether `Cache-Control` has `no-store`.
  var forbidsStoring: Bool { Self.forbidsStoring(self["Cache-Control"]) }

  static func forbidsStoring(_ cacheControl: String?) -> Bool {
    cacheControl?.lowercased().contains("no-store") == true
  }

  /// The `ETag`; nil unless there is exactly one, and it is well-formed (RFC 9110, section 8.8.3).
  /// A `*` or a list would be another condition than a tag when it is sent back.
  fileprivate var entityTag: String? {
    let tags = values(of: "ETag")
    guard let tag = tags.first, tags.count == 1 else { return nil }
    let (text, quote) = (Self.weakTag(tag).utf8, UInt8(ascii: "\""))
    let isTag =
      text.count >= 2 && text.first == quote && text.last == quote
      && text.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    return isTag ? tag : nil
  }

  /// The items of a list, in lower case and sorted.
  fileprivate static func list(_ text: String) -> [String] {
    text.lowercased().split { $0 == "," || $0.isWhitespace }.map { String($0) }.sorted()
  }

  /// The tag without the mark of a weak one.
  fileprivate static func weakTag(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }
}
