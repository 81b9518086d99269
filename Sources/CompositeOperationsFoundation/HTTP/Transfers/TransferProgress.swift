internal import CompositeOperations

/// Tells of bytes as they go, but not of every few of them.
final class TransferProgress: Sendable {
  private let context: OperationContext
  private let told = Lock(0)

  private let total: Int?

  /// - Parameter total: How many bytes there are, where that is known beforehand.
  init(_ context: OperationContext, total: Int? = nil) {
    self.context = context
    self.total = total
  }

  /// - Parameters:
  ///   - count: How many bytes have gone.
  ///   - total: How many there are; nil if nobody knows.
  func report(_ count: Int, of total: Int? = nil) {
    let total = self.total ?? total
    let step = max(65_536, (total ?? 0) / 200)
    let isNews = told.withLock { told in
      // Less than before after a new beginning.
      guard count == total || count < told || count - told >= step || told == 0 else {
        return false
      }
      told = count
      return true
    }
    if isNews { context.report(count, of: total, unit: "bytes") }
  }
}
