internal import Foundation
internal import SystemSupport

/// The record beside a partial file, which identifies the whole.
struct DownloadRecord: Codable, Equatable, Sendable {
  /// The URL without secrets, for people who find the file.
  let address: String
  /// A hash of the whole URL, which may contain secrets, or of the key that the caller gave.
  let fingerprint: UInt64
  /// The `ETag`, which is strong; nil if there was none.
  let entityTag: String?
  /// The `Last-Modified`; nil if there was none.
  let modified: String?
  /// The length of the whole in bytes; nil if the server did not announce it.
  let total: Int?
}

extension DownloadRecord {
  /// The identity of a resource: its URL, or a key of the caller for a URL that changes.
  struct Resource: Sendable {
    let url: URL
    let key: String?

    fileprivate var fingerprint: UInt64 {
      Array((key.map { "key \($0)" } ?? url.absoluteString).utf8).hash64
    }
  }

  /// - Returns: Nil if the server sends no usable validator: then the download cannot be resumed.
  init?(of resource: Resource, _ head: HTTPResponseHead, total: Int?) {
    // Offsets in a compressed body are not offsets in the file.
    if head.headers.isEncoded || !Self.hasValidator(head.headers) { return nil }
    address = resource.url.withoutSecrets
    fingerprint = resource.fingerprint
    entityTag = head.headers["ETag"]
    modified = head.headers["Last-Modified"]
    self.total = total
  }

  /// The validator for `If-Range`, by which the server detects a change; nil in a record of an
  /// earlier version of this module.
  var validator: String? { entityTag ?? modified }

  func isOf(_ resource: Resource) -> Bool { fingerprint == resource.fingerprint }

  /// Whether a response belongs to the same version of the same file: it has the validator of the
  /// record, and no other one. A server that ignores `If-Range` may send a part of another version
  /// without any. It should not repeat `Last-Modified` beside an `ETag` (RFC 9110, section 15.3.7).
  func isConfirmed(by head: HTTPResponseHead) -> Bool {
    !isContradicted(by: head) && head.headers[entityTag == nil ? "Last-Modified" : "ETag"] != nil
  }

  /// Whether a response belongs to another version.
  func isContradicted(by head: HTTPResponseHead) -> Bool {
    [(entityTag, head.headers["ETag"]), (modified, head.headers["Last-Modified"])]
      .contains { old, new in old != nil && new != nil && old != new }
  }

  /// Only strong validators count (RFC 9110, section 13.1.5): with a weak one, parts of different
  /// versions might be combined.
  private static func hasValidator(_ headers: HTTPHeaders) -> Bool {
    if let tag = headers["ETag"] { return tag.hasPrefix("\"") }
    return headers.isModifiedBeforeDate
  }
}
