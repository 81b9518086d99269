internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// How a download goes on with the part that there is. No file and no connection is touched here.
struct DownloadPlan: Equatable, Sendable {
  /// What becomes of a response.
  enum Decision: Equatable, Sendable {
    /// Its body is the rest. How long the whole is; nil if nobody knows.
    case append(total: Int?)
    /// Its body is the whole. How long that is; nil if nobody knows.
    case startAnew(total: Int?)
    /// All is there already.
    case complete
    /// It is of no use: the whole is to be asked for.
    case askForWhole
    case fail
  }

  /// How many bytes there are already.
  let offset: Int
  /// Of what they are; nil if there are none.
  let record: DownloadRecord?

  static let whole = DownloadPlan(offset: 0, record: nil)

  private init(offset: Int, record: DownloadRecord?) {
    self.offset = offset
    self.record = record
  }

  /// - Parameters:
  ///   - offset: How many bytes there are.
  ///   - record: What stands beside them.
  init(offset: Int, record: DownloadRecord?, for url: URL) {
    let isUsable = offset > 0 && record?.isOf(url) == true
    self = isUsable ? DownloadPlan(offset: offset, record: record) : .whole
  }

  /// The request for what is missing.
  func request(_ request: URLRequest) -> URLRequest {
    var request = request
    // Places and lengths are those of the thing itself, not of what it is packed into.
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    request.setValue(record.map { _ in "bytes=\(offset)-" }, forHTTPHeaderField: "Range")
    request.setValue(record?.validator, forHTTPHeaderField: "If-Range")
    return request
  }

  func decision(on head: HTTPResponseHead) -> Decision {
    let range = ContentRange(head.headers["Content-Range"])
    switch head.status {
    case 206:
      guard let range, range.first == offset else { return record == nil ? .fail : .askForWhole }
      guard let record else {
        // Nobody asked for a part, so it had better be all.
        return range.total == head.headers.contentLength
          ? .startAnew(total: range.total) : .fail
      }
      // Where it is packed, its places are not those of what has been written.
      guard !head.headers.isEncoded, !record.isOfAnother(head) else { return .askForWhole }
      let (end, isTooLarge) = offset.addingReportingOverflow(head.headers.contentLength ?? 0)
      guard !isTooLarge else { return .askForWhole }
      let total = range.total ?? head.headers.contentLength.map { _ in end } ?? record.total
      // A thing of another length is another thing.
      return total == record.total ?? total ? .append(total: total) : .askForWhole
    case 200...299: return .startAnew(total: head.headers.contentLength)
    case 416:
      guard let record else { return .fail }
      let isAll = range?.total == offset && offset == record.total ?? offset
      return isAll && !record.isOfAnother(head) ? .complete : .askForWhole
    default: return .fail
    }
  }
}
