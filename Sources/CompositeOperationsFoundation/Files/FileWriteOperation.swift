public import CompositeOperations
public import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Writes a file so that there is either the old one or all of the new one.
///
/// ```swift
/// let save = FileWriteOperation(data, to: file)
/// ```
///
/// It writes another file beside it, block by block, which then takes its name, and keeps the rights of the old
/// one. A run that fails or is cancelled leaves the old one as it was and nothing beside it. What is no file,
/// such as a device, is written directly. The run tells how many bytes it has written, and fails in a
/// ``FileOperationError``.
public struct FileWriteOperation: ComposableOperation {
  /// The file; what a symbolic link points to is written, not the link.
  public let url: URL
  private let data: Data
  private let isSynchronized: Bool

  /// - Parameters:
  ///   - data: What it will contain.
  ///   - url: The file.
  ///   - isSynchronized: Whether the run waits until the bytes are on the disk, so that not even a loss of power
  ///     leaves a file without them.
  public init(_ data: Data, to url: URL, synchronized isSynchronized: Bool = false) {
    self.url = url
    self.data = data
    self.isSynchronized = isSynchronized
  }

  public func perform(in context: OperationContext) async throws {
    try await BlockingOperation { try write($0) }.perform(in: context)
  }

  private func write(_ context: BlockingContext) throws {
    let path = url.resolvingSymlinksInPath().path
    try FileFailure(.write).at(path) {
      let old = try FileStatus.ifThere(path)
      if let old, old.kind != .file { return try writeAll(to: OpenFile(path, O_WRONLY), context) }
      try ReplacementFile.make(for: path, keeping: old?.permissions) { file in
        try writeAll(to: file, context)
      }
    }
  }

  private func writeAll(to file: OpenFile, _ context: BlockingContext) throws {
    do {
      var written = 0
      try unsafe data.withUnsafeBytes { bytes in
        while written < bytes.count {
          try context.checkCancellation()
          let end = min(written + OpenFile.blockSize, bytes.count)
          try unsafe file.write(UnsafeRawBufferPointer(rebasing: bytes[written..<end]))
          written = end
          context.operation.report(written, of: bytes.count, unit: "bytes")
        }
      }
      if isSynchronized { try file.synchronize() }
    } catch {
      try? file.close()
      throw error
    }
    // It may say only now that there was no room.
    try file.close()
  }
}

/// A file that is made beside another one, and takes its name when it is whole.
enum ReplacementFile {
  /// - Parameters:
  ///   - path: Whose name it takes.
  ///   - permissions: The rights that it gets; nil for those of a new file.
  ///   - fill: Writes it and closes it.
  static func make(
    for path: String, keeping permissions: mode_t? = nil, _ fill: (OpenFile) throws -> Void
  ) throws {
    let temporary = name(beside: path)
    let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
    do {
      try fill(file)
      if let permissions { try FileSystem.setPermissions(permissions, of: temporary) }
      try FileSystem.rename(temporary, to: path)
    } catch {
      try? FileSystem.removeFile(temporary)
      throw error
    }
  }

  /// A hidden name in the same folder that nobody else has.
  static func name(beside path: String) -> String {
    let url = URL(fileURLWithPath: path)
    let suffix = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    // A name may have 255 bytes, and this one has some more than the other.
    let name = String(decoding: Array(url.lastPathComponent.utf8.prefix(200)), as: UTF8.self)
    return url.deletingLastPathComponent().appendingPathComponent(".\(name).\(suffix)").path
  }
}
