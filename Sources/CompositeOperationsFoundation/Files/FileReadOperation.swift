public import CompositeOperations
public import Foundation
internal import SystemFiles

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Reads a file, block by block; a cancellation is heeded between two of them.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let file = URL(fileURLWithPath: "settings.json")
/// let settings = FileReadOperation(file).map { try JSONDecoder().decode([String: String].self, from: $0) }
/// ```
///
/// A pipe is read until nobody writes to it any more; where nobody has begun, the run waits. The run tells how many
/// bytes it has read. It fails in a ``FileOperationError``.
public struct FileReadOperation: ComposableOperation {
  /// The file.
  public let url: URL
  private let limit: Int
  private let place: BlockingPlace

  /// - Parameters:
  ///   - url: The file.
  ///   - limit: How many bytes it may have.
  ///   - place: Where the run waits for the disk.
  public init(_ url: URL, atMost limit: Int = .max, on place: BlockingPlace = .threads) {
    self.url = url
    self.limit = limit
    self.place = place
  }

  public func perform(in context: OperationContext) async throws -> Data {
    let path = try FileFailure(.read).path(of: url)
    return try await BlockingOperation(on: place) { try read(path, $0) }.perform(in: context)
  }

  private func read(_ path: String, _ context: BlockingContext) throws -> Data {
    let failure = FileFailure(.read)
    return try failure.at(source: path) {
      let file = try OpenFile(path, O_RDONLY | OpenFile.withoutWaiting)
      defer { try? file.close() }
      let status = try file.status
      // Files that the system makes up have no size, and contents nevertheless.
      let size = status.kind == .file ? status.size : 0
      let blockSize = size > 0 ? min(size + 1, OpenFile.blockSize) : OpenFile.blockSize
      var block = [UInt8](repeating: 0, count: blockSize)
      var data = Data()
      while true {
        try context.checkCancellation()
        let count = try unsafe block.withUnsafeMutableBytes { block in
          if status.kind != .other { return try unsafe file.read(into: block) }
          return try unsafe file.read(into: block, waiting: { try context.checkCancellation() })
        }
        if count == 0 { return data }
        if data.count + count > limit {
          throw failure.error(source: path, .tooLarge(limit: limit))
        }
        data.append(contentsOf: block[..<count])
        let total = size > 0 ? max(data.count, size) : nil
        context.operation.report(data.count, of: total, unit: "bytes")
      }
    }
  }
}
