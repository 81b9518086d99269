import CompositeOperations
package import SystemSupport

/// Reads the contents of files. A state of a file that was read is not read again.
package final class FileContents: Sendable {
  private struct State: Hashable {
    let folder: String
    let path: [UInt8]
    let stamp: String
  }

  private let hashes = Lock<[State: String]>([:])

  package init() {}

  /// Returns the hash of the contents of a file.
  ///
  /// - Parameters:
  ///   - path: The path, absolute or relative to the folder.
  ///   - stamp: See ``FileStatus/stamp``.
  /// - Returns: Nil if the file has another stamp, changes while it is read, or has no contents that
  ///   can be compared, such as a pipe.
  /// - Throws: A ``FlowFailure`` that names a file that cannot be read; `CancellationError`.
  package func hash(of path: [UInt8], stamp: String, in folder: String) throws -> String? {
    let state = State(folder: folder, path: path, stamp: stamp)
    if let hash = hashes.withLock({ $0[state] }) { return hash }
    let hash = try FileTree(folder).hash(of: path, stamp: stamp)
    if let hash { hashes.withLock { $0[state] = hash } }
    return hash
  }
}

extension FileTree {
  fileprivate func hash(of path: [UInt8], stamp: String) throws -> String? {
    guard let status = foundStatus(of: path), status.stamp == stamp else { return nil }
    do {
      switch status.kind {
      case .file: return try hash(ofFile: path, status)
      // Its file is missing or a folder. With the zero, no file of its size has this hash.
      case .link:
        let target = try OpenFolder.working.target(ofLink: name(path))
        var hash = ContentHash()
        hash.append((Array(target.utf8) + [0]).span)
        return hash.text
      case .folder, .other: return nil
      }
    } catch let error as SystemError {
      if error.isMissing { return nil }
      throw Self.failure(path, error)
    }
  }

  private func hash(ofFile path: [UInt8], _ status: FileStatus) throws -> String? {
    // Another file may have its name now, such as a pipe.
    let file = try OpenFolder.working.open(name(path), .readOnly, .nonBlocking)
    defer { try? file.close() }
    guard try file.status.isUnchanged(since: status) else { return nil }
    var hash = ContentHash()
    var size = 0
    var block = [UInt8](repeating: 0, count: FileDescriptor.blockSize)
    while true {
      try Task.checkCancellation()
      let count = try file.read(into: &block)
      if count == 0 { break }
      size += count
      // It may grow as fast as it is read. Files of the system may have more bytes than their size.
      if size > max(status.size, FileDescriptor.blockSize) { return nil }
      hash.append(block.span.extracting(..<count))
    }
    return try file.status.isUnchanged(since: status) ? hash.text : nil
  }
}

extension FileStatus {
  /// The size in bytes, the time in nanoseconds and the inode.
  package var stamp: String {
    var bytes: [UInt8] = []
    bytes.appendStamp(self)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension [UInt8] {
  mutating func appendStamp(_ status: FileStatus) {
    let time = status.modified
    appendNumber(Int64(status.size))
    append(.space)
    appendNumber(time.seconds &* 1_000_000_000 &+ time.nanoseconds)
    append(.space)
    appendNumber(Int64(bitPattern: status.identity.number))
  }
}
