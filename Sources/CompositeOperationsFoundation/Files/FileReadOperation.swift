public import CompositeOperations
public import Foundation
internal import SystemSupport

/// An operation that reads a file.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let file = URL(fileURLWithPath: "settings.json")
/// let settings = FileReadOperation(file).map { data in
///   try JSONDecoder().decode([String: String].self, from: data)
/// }
/// ```
///
/// The file is read block by block, and a cancellation takes effect between two blocks. A pipe is
/// read until its last writer has closed it; if it has no writer yet, the run waits for one.
///
/// The run reports its progress in bytes. If the file cannot be read, the error is a
/// ``FileOperationError``.
public struct FileReadOperation: ComposableOperation {
  /// The file to read.
  public let url: URL
  private let limit: Int
  private let place: BlockingPlace

  /// Creates an operation that reads a file.
  ///
  /// - Parameters:
  ///   - url: The file to read.
  ///   - limit: The maximum size of the file in bytes. A larger file is an error.
  ///   - place: The threads, queue, actor or executor that run the blocking system calls.
  public init(_ url: URL, atMost limit: Int = .max, on place: BlockingPlace = .threads) {
    self.url = url
    self.limit = limit
    self.place = place
  }

  /// Reads the file and returns its contents.
  ///
  /// - Throws: ``FileOperationError``, `CancellationError` if the run is cancelled, and
  ///   ``BlockingThreadsError`` if the system creates no thread.
  public func perform(in context: OperationContext) async throws -> Data {
    let path = try FileErrors(.read).path(of: url)
    return try await BlockingOperation(on: place) { try read(path, $0) }.perform(in: context)
  }

  private func read(_ path: String, _ context: BlockingContext) throws -> Data {
    let errors = FileErrors(.read)
    return try errors.mapping(source: path) {
      let file = try FileDescriptor.open(path, .readOnly, .nonBlocking)
      defer { try? file.close() }
      let status = try file.status
      // Virtual files, such as those in /proc, have contents but no size.
      let size = status.kind == .file ? status.size : 0
      let blockSize = size > 0 ? min(size + 1, FileDescriptor.blockSize) : FileDescriptor.blockSize
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
          throw errors.error(source: path, .tooLarge(limit: limit))
        }
        data.append(contentsOf: block[..<count])
        let total = size > 0 ? max(data.count, size) : nil
        context.operationContext.report(data.count, of: total, unit: "bytes")
      }
    }
  }
}
