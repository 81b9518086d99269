internal import Foundation

/// What stands beside a file that has come in part: of what it is a part.
struct DownloadRecord: Codable, Equatable, Sendable {
  /// For people who find the file, without secrets.
  let address: String
  /// Of the whole address, which may have secrets.
  let fingerprint: UInt64
  /// By which the server knows whether the thing is still the same, for `If-Range`.
  let validator: String
  /// How long the whole is; nil if the server did not say.
  let total: Int?
}

extension DownloadRecord {
  /// - Returns: nil if the server gives nothing to know the thing by: then it cannot be resumed.
  init?(of url: URL, _ head: HTTPResponseHead, total: Int?) {
    // Of what comes packed the server counts other bytes than are written.
    guard !head.headers.isEncoded, let validator = Self.validator(in: head.headers) else {
      return nil
    }
    address = url.withoutSecrets
    fingerprint = Self.fingerprint(of: url)
    self.validator = validator
    self.total = total
  }

  func isOf(_ url: URL) -> Bool { fingerprint == Self.fingerprint(of: url) }

  /// Whether a response says that it is of something else than this.
  func isOfAnother(_ head: HTTPResponseHead) -> Bool {
    let now = head.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"]
    return now != nil && now != validator
  }

  /// Strong ones only (RFC 9110, section 13.1.5): by a weak one, parts of different things may be put together.
  static func validator(in headers: HTTPHeaders) -> String? {
    if let tag = headers["ETag"] { return tag.hasPrefix("\"") ? tag : nil }
    guard let text = headers["Last-Modified"], let modified = HTTPDate.date(from: text),
      let now = headers["Date"].flatMap({ HTTPDate.date(from: $0) })
    else { return nil }
    // What was changed in this very second may be changed in it again.
    return now.timeIntervalSince(modified) >= 1 ? text : nil
  }

  /// By FNV-1a: the same in every process.
  private static func fingerprint(of url: URL) -> UInt64 {
    url.absoluteString.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
