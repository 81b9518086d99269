public import CompositeOperations
public import Foundation
internal import SystemSupport

/// An operation that writes a file atomically: the file has either its old or its new contents.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let save = FileWriteOperation(Data("Dear all".utf8), to: URL(fileURLWithPath: "draft.txt"))
/// ```
///
/// The data is written to another file beside it, block by block, which is then renamed. The new
/// file keeps the owner and the permissions of the old one. Without root, another user's file
/// becomes yours and loses setuid and setgid. Extended attributes and access control lists are
/// lost. A run that fails or is cancelled leaves the old file as it was, and nothing beside it; a
/// cancellation during the final rename comes too late.
///
/// A device or a pipe is written directly. A pipe must have a reader.
///
/// The run reports its progress in bytes. If the file cannot be written, the error is a
/// ``FileOperationError``.
public struct FileWriteOperation: ComposableOperation {
  /// The file to write. If it is a symbolic link, its target is written.
  public let url: URL
  private let data: Data
  private let isSynchronized: Bool
  private let place: BlockingPlace

  /// Creates an operation that writes a file.
  ///
  /// - Parameters:
  ///   - data: The new contents.
  ///   - url: The file to write.
  ///   - isSynchronized: Whether the run waits until the contents and the name are on disk, so that
  ///     they survive a power failure.
  ///   - place: The threads, queue, actor or executor that run the blocking system calls.
  public init(
    _ data: Data, to url: URL, synchronized isSynchronized: Bool = false,
    on place: BlockingPlace = .threads
  ) {
    self.url = url
    self.data = data
    self.isSynchronized = isSynchronized
    self.place = place
  }

  /// Writes the file.
  ///
  /// - Throws: ``FileOperationError``, `CancellationError` if the run is cancelled, and
  ///   ``BlockingThreadsError`` if the system creates no thread.
  public func perform(in context: OperationContext) async throws {
    let path = try FileErrors(.write).path(of: url)
    try await BlockingOperation(on: place) { try write(path, $0) }.perform(in: context)
  }

  private func write(_ path: String, _ context: BlockingContext) throws {
    let errors = FileErrors(.write)
    let target = try errors.mapping(destination: path) { try FileTarget(path) }
    try errors.mapping(destination: target.path) {
      let check = { try context.checkCancellation() }
      try unsafe target.write(synchronized: isSynchronized, check) { write in
        try unsafe writeBlocks(context, write)
      }
    }
  }

  private func writeBlocks(
    _ context: BlockingContext, _ write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var written = 0
    try unsafe data.withUnsafeBytes { bytes in
      while written < bytes.count {
        try context.checkCancellation()
        let end = min(written + FileDescriptor.blockSize, bytes.count)
        try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[written..<end]))
        written = end
        context.operationContext.report(written, of: bytes.count, unit: "bytes")
      }
    }
  }
}
