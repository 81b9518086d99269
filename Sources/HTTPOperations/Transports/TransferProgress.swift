internal import CompositeOperations

/// Reports transferred bytes in steps of 64 KiB or 0.5 %, whichever is larger.
final class TransferProgress: Sendable {
  private let context: OperationContext
  private let reported = Lock(0)

  private let total: Int?

  /// - Parameter total: The total number of bytes, if it is known beforehand.
  init(_ context: OperationContext, total: Int? = nil) {
    self.context = context
    self.total = total
  }

  /// - Parameters:
  ///   - count: The number of bytes transferred so far.
  ///   - total: The total number of bytes; nil if it is unknown.
  func report(_ count: Int, of total: Int? = nil) {
    let total = self.total ?? total
    let step = max(65_536, (total ?? 0) / 200)
    let isDue = reported.withLock { reported in
      // The count is lower than before if the transfer starts again.
      guard count == total || count < reported || count - reported >= step || reported == 0 else {
        return false
      }
      reported = count
      return true
    }
    if isDue { context.report(count, of: total, unit: "bytes") }
  }
}
