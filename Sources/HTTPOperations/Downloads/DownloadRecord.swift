internal import Foundation

/// The record beside a partial file, which identifies the whole.
struct DownloadRecord: Codable, Equatable, Sendable {
  /// The URL without secrets, for people who find the file.
  let address: String
  /// A hash of the whole URL, which may contain secrets.
  let fingerprint: UInt64
  /// The validator for `If-Range`, by which the server detects a change.
  let validator: String
  /// The length of the whole in bytes; nil if the server did not announce it.
  let total: Int?
}

extension DownloadRecord {
  /// - Returns: Nil if the server sends no usable validator: then the download cannot be resumed.
  init?(of url: URL, _ head: HTTPResponseHead, total: Int?) {
    // Offsets in a compressed body are not offsets in the file.
    guard !head.headers.isEncoded, let validator = Self.validator(in: head.headers) else {
      return nil
    }
    address = url.withoutSecrets
    fingerprint = Self.fingerprint(of: url)
    self.validator = validator
    self.total = total
  }

  func isOf(_ url: URL) -> Bool { fingerprint == Self.fingerprint(of: url) }

  /// Whether a response belongs to another file, or to another version of it.
  func isOfAnother(_ head: HTTPResponseHead) -> Bool {
    let now = head.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"]
    return now != nil && now != validator
  }

  /// Only strong validators (RFC 9110, section 13.1.5): with a weak one, parts of different
  /// versions might be combined.
  static func validator(in headers: HTTPHeaders) -> String? {
    if let tag = headers["ETag"] { return tag.hasPrefix("\"") ? tag : nil }
    guard let text = headers["Last-Modified"], let modified = HTTPDate.date(from: text),
      let now = headers["Date"].flatMap({ HTTPDate.date(from: $0) })
    else { return nil }
    // A file that was modified in the current second may be modified in it again.
    return now.timeIntervalSince(modified) >= 1 ? text : nil
  }

  /// The FNV-1a hash, which is the same in every process.
  private static func fingerprint(of url: URL) -> UInt64 {
    url.absoluteString.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
