public import CompositeOperations
public import Foundation

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
/// let settings = FileReadOperation(settingsFile).map { try JSONDecoder().decode(Settings.self, from: $0) }
/// ```
///
/// The run tells how many bytes it has read. It fails in a ``FileOperationError``.
public struct FileReadOperation: ComposableOperation {
  /// The file.
  public let url: URL
  private let limit: Int

  /// - Parameters:
  ///   - url: The file.
  ///   - limit: How many bytes it may have.
  public init(_ url: URL, atMost limit: Int = .max) {
    self.url = url
    self.limit = limit
  }

  public func perform(in context: OperationContext) async throws -> Data {
    try await BlockingOperation { try read($0) }.perform(in: context)
  }

  private func read(_ context: BlockingContext) throws -> Data {
    let failure = FileFailure(.read)
    let path = url.path
    return try failure.at(path) {
      let file = try OpenFile(path, O_RDONLY)
      defer { try? file.close() }
      let status = try file.status
      let total = status.kind == .file ? status.size : nil
      var data = Data()
      let size = total.map { min($0 + 1, OpenFile.blockSize) } ?? OpenFile.blockSize
      var block = [UInt8](repeating: 0, count: size)
      while true {
        try context.checkCancellation()
        let count = try unsafe block.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
        if count == 0 { return data }
        if data.count + count > limit { throw failure.error(path, .tooLarge(limit: limit)) }
        data.append(contentsOf: block[..<count])
        context.operation.report(data.count, of: total, unit: "bytes")
      }
    }
  }
}
