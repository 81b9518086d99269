internal import CompositeOperations
internal import CompositeOperationsFoundation
internal import Foundation
internal import SystemSupport

/// A file that is sent as a body, read on a thread that may block. One call is made at a time.
final class FileToSend: Sendable {
  private let url: URL
  private let state: Lock<(file: FileDescriptor?, rest: Int)>
  private let byteCount: Int
  private let mayGrow: Bool

  /// - Parameters:
  ///   - byteCount: The number of bytes that are announced to the server.
  ///   - mayGrow: Whether bytes that are added to the file are no error. They are not sent.
  init(_ url: URL, byteCount: Int, mayGrow: Bool = true) {
    self.url = url
    self.byteCount = byteCount
    self.mayGrow = mayGrow
    state = Lock((nil, byteCount))
  }

  /// The size of a file in bytes.
  static func size(of url: URL) throws(FileError) -> Int {
    let (_, file, status) = try opened(url)
    try? file.close()
    return status.size
  }

  private static func opened(
    _ url: URL
  ) throws(FileError) -> (path: String, file: FileDescriptor, status: FileStatus) {
    guard let path = url.pathOfFile else {
      throw FileError(
        url.withoutSecrets, "cannot be read", because: "it is not a file URL. Download it first.")
    }
    let (file, status): (FileDescriptor, FileStatus)
    do throws(SystemError) {
      file = try FileDescriptor.open(path, .readOnly, .nonBlocking)
      do throws(SystemError) { status = try file.status } catch {
        try? file.close()
        throw error
      }
    } catch {
      let advice =
        error.isLackOfFiles
        ? error.advice : error.isMissing ? "Check its path." : "Use a readable file."
      throw FileError(path, "cannot be read", error, because: "\(error). \(advice)")
    }
    if status.kind == .file { return (path, file, status) }
    try? file.close()
    throw FileError(
      path, "cannot be sent",
      because: "it is a folder or a device, which has no known length. Use a file.")
  }

  /// Reads the next bytes. Opens the file first if necessary.
  ///
  /// - Returns: Nil after the announced number of bytes.
  func next(_ limit: Int) throws(FileError) -> [UInt8]? {
    var (file, rest) = state.withLock { $0 }
    if rest == 0 && (file != nil || mayGrow) { return nil }
    if file == nil {
      let (_, opened, _) = try Self.opened(url)
      state.withLock { $0.file = opened }
      file = opened
    }
    // Before the last bytes are sent, so that the server does not get a complete body.
    if rest <= limit, !mayGrow { try checkSize(file) }
    if rest == 0 { return nil }
    var bytes = [UInt8](repeating: 0, count: min(rest, limit))
    let count = try FileError.at(url.path, "cannot be read") { () throws(SystemError) in
      try file?.read(into: &bytes) ?? 0
    }
    if count == 0 {
      throw FileError(
        url.path, "has become shorter",
        because: "it was changed while it was sent. Send it again.")
    }
    state.withLock { $0.rest -= count }
    return count < bytes.count ? [UInt8](bytes[..<count]) : bytes
  }

  /// Checks that the file is not larger than it was announced.
  private func checkSize(_ file: FileDescriptor?) throws(FileError) {
    let size = try FileError.at(url.path, "cannot be read") { () throws(SystemError) in
      try file?.status.size
    }
    guard let size, size > byteCount else { return }
    throw FileError(
      url.path, "has become larger",
      because: "it was changed while it was sent. Send it again.")
  }

  func close() { try? state.withLock { $0.file.take() }?.close() }
}
