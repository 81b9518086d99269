public import CompositeOperations
public import Foundation
internal import SystemFiles

/// Writes a file so that there is either the old one or all of the new one.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let save = FileWriteOperation(Data("Dear all".utf8), to: URL(fileURLWithPath: "draft.txt"))
/// ```
///
/// It writes another file beside it, block by block, which then takes its name, and keeps the owner and the rights
/// of the old one; where only the system's administrator may give files away, a file of somebody else becomes
/// one's own, and loses the right to be run as him. Extended attributes and access control lists are lost. A run
/// that fails or is cancelled leaves the old one as it was and nothing beside it; a cancellation that arrives with
/// the change of the name comes too late for that.
///
/// What is no file, such as a device or a pipe, is written directly. A pipe has to have somebody who reads it.
///
/// The run tells how many bytes it has written, and fails in a ``FileOperationError``.
public struct FileWriteOperation: ComposableOperation {
  /// The file; what a symbolic link points to is written, not the link.
  public let url: URL
  private let data: Data
  private let isSynchronized: Bool
  private let place: BlockingPlace

  /// - Parameters:
  ///   - data: What it will contain.
  ///   - url: The file.
  ///   - isSynchronized: Whether the run waits until the bytes and the name are on the disk, so that the file is
  ///     there even after a loss of power.
  ///   - place: Where the run waits for the disk.
  public init(
    _ data: Data, to url: URL, synchronized isSynchronized: Bool = false,
    on place: BlockingPlace = .threads
  ) {
    self.url = url
    self.data = data
    self.isSynchronized = isSynchronized
    self.place = place
  }

  public func perform(in context: OperationContext) async throws {
    let path = try FileFailure(.write).path(of: url)
    try await BlockingOperation(on: place) { try write(path, $0) }.perform(in: context)
  }

  private func write(_ path: String, _ context: BlockingContext) throws {
    let failure = FileFailure(.write)
    let target = try failure.at(destination: path) { try FileTarget(path) }
    try failure.at(destination: target.path) {
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
        let end = min(written + OpenFile.blockSize, bytes.count)
        try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[written..<end]))
        written = end
        context.operation.report(written, of: bytes.count, unit: "bytes")
      }
    }
  }
}
