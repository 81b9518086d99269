internal import CompositeOperations
internal import Foundation
internal import SystemSupport

/// A body of a request that is written to a temporary file, because a `URLSession` cannot wait for
/// its bytes. The file is removed with it.
final class SpooledBody: Sendable {
  enum End: Sendable { case incomplete, complete, failed }

  let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).body")
  private let byteCount = Lock(0)
  /// How many updates have not been performed. One thread performs all of them.
  private let updateCount = Lock(0)

  deinit { try? FileManager.default.removeItem(at: file) }

  /// Writes the next bytes of an exchange, on a thread that may block.
  ///
  /// - Returns: What ended the body; it is returned once.
  func write(from exchange: HTTPExchange) -> End {
    var isOther = updateCount.withLock { count in
      count += 1
      return count > 1
    }
    while !isOther {
      let end = writeNext(from: exchange)
      if end != .incomplete { return end }
      isOther = updateCount.withLock { count in
        count -= 1
        return count == 0
      }
    }
    return .incomplete
  }

  private func writeNext(from exchange: HTTPExchange) -> End {
    if exchange.isCancelled { return .failed }
    do {
      let file = try FileDescriptor.open(file.path, .writeOnly, [.create])
      defer { try? file.close() }
      try file.seek(to: byteCount.withLock { $0 })
      var chunk = [UInt8](repeating: 0, count: 64 << 10)
      while let count = unsafe chunk.withUnsafeMutableBytes({ unsafe exchange.takeBytes(into: $0) })
      {
        if count == 0 { return .complete }
        try file.write(Array(chunk[..<count]), brokenPipe: .error)
        byteCount.withLock { $0 += count }
      }
      exchange.notify()
      return .incomplete
    } catch {
      return .failed
    }
  }
}
