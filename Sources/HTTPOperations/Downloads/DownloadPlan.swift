internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The decisions on how to resume a download. They access no file and no connection.
struct DownloadPlan: Equatable, Sendable {
  /// A decision on a response.
  enum Decision: Equatable, Sendable {
    /// Append its body. The length of the whole is in bytes; nil if it is unknown.
    case append(total: Int?)
    /// Write its body from the start. Its length is in bytes; nil if it is unknown.
    case restart(total: Int?)
    /// The partial file is already complete.
    case complete
    /// The response cannot be used: request the whole.
    case requestWhole
    case fail
  }

  /// How many bytes the partial file has.
  let offset: Int
  /// The record of the partial file; nil if it has no bytes.
  let record: DownloadRecord?

  static let whole = DownloadPlan(offset: 0, record: nil)

  private init(offset: Int, record: DownloadRecord?) {
    self.offset = offset
    self.record = record
  }

  /// - Parameters:
  ///   - offset: How many bytes the partial file has.
  ///   - record: The record beside it.
  init(offset: Int, record: DownloadRecord?, for resource: DownloadRecord.Resource) {
    let isUsable = offset > 0 && record?.isOf(resource) == true && record?.validator != nil
    self = isUsable ? DownloadPlan(offset: offset, record: record) : .whole
  }

  /// The request for the missing part.
  func request(_ request: URLRequest) -> URLRequest {
    var request = request
    // Offsets and lengths must be in the file itself, not in its compressed form.
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    request.setValue(record.map { _ in "bytes=\(offset)-" }, forHTTPHeaderField: "Range")
    request.setValue(record?.validator, forHTTPHeaderField: "If-Range")
    return request
  }

  func decision(on head: HTTPResponseHead) -> Decision {
    let range = ContentRange(head.headers["Content-Range"])
    switch head.status {
    case 206:
      guard let range, range.first == offset else { return record == nil ? .fail : .requestWhole }
      guard let record else {
        // No part was requested, so the body must be the whole.
        return range.total == head.headers.contentLength
          ? .restart(total: range.total) : .fail
      }
      // If it is compressed, its offsets are not offsets in the partial file.
      guard !head.headers.isEncoded, record.isConfirmed(by: head) else { return .requestWhole }
      let (end, isTooLarge) = offset.addingReportingOverflow(head.headers.contentLength ?? 0)
      guard !isTooLarge else { return .requestWhole }
      let total = range.total ?? head.headers.contentLength.map { _ in end } ?? record.total
      // A different length means that the file has changed.
      return total == record.total ?? total ? .append(total: total) : .requestWhole
    // It has no body, whatever its Content-Length (RFC 9112, section 6.3).
    case 204: return .restart(total: 0)
    case 200...299: return .restart(total: head.headers.contentLength)
    case 416:
      guard let record else { return .fail }
      guard range?.total == offset, record.total == offset || record.total == nil else {
        return .requestWhole
      }
      // Of a file of unknown length, the part that is there may belong to another version.
      let isSame =
        record.total == nil ? record.isConfirmed(by: head) : !record.isContradicted(by: head)
      return isSame ? .complete : .requestWhole
    default: return .fail
    }
  }
}

/// The part of the whole that a body contains (RFC 9110, section 14.4): `bytes 100-199/1000`.
struct ContentRange: Equatable {
  /// The offset of the first byte; nil if there is no part, as after 416.
  let first: Int?
  /// The length of the whole in bytes; nil if it is unknown.
  let total: Int?

  /// - Returns: Nil if the text is malformed.
  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    total = Self.number(parts[1])
    if parts[1] != "*", total == nil { return nil }
    if parts[0] == "*" {
      first = nil
      return
    }
    let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let start = Self.number(bounds[0]), let end = Self.number(bounds[1]),
      start <= end, end < total ?? .max
    else { return nil }
    first = start
  }

  /// - Returns: Nil if there are characters other than digits, or if the number is too large.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }
}
