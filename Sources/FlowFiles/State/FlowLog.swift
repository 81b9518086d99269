import Foundation
import SystemSupport

/// The log of a step or a child in a run: a line before each command, and its output.
struct FlowLog: Sendable {
  let path: String

  init(_ path: String) { self.path = path }

  /// Appends a line with a label, the time and a command.
  ///
  /// - Returns: The bytes of the log that the line takes.
  @discardableResult
  func begin(_ words: [String], as label: String) throws(SystemError) -> Range<Int> {
    let command = words.map(\.quotedForShell).joined(separator: " ").onOneLine
    return try append(
      Array("=== \(label), \(Date().second): \(command)\n".utf8), onNewLine: true)
  }

  /// - Parameter startsLine: Whether a line that has no end is ended before.
  /// - Returns: The bytes of the log that were added.
  @discardableResult
  func append(_ bytes: [UInt8], onNewLine startsLine: Bool = false) throws(SystemError) -> Range<
    Int
  > {
    let file = try FileDescriptor.open(
      path, .readWrite, [.create, .append], permissions: 0o600)
    defer { try? file.close() }
    let size = try file.status.size
    var end: [UInt8] = []
    if startsLine, size > 0 {
      var last: [UInt8] = [0]
      try file.seek(to: size - 1)
      if try file.read(into: &last) == 1, last[0] != .lineFeed { end = [.lineFeed] }
    }
    try file.write(end + bytes, brokenPipe: .error)
    return size..<(size + end.count + bytes.count)
  }

  /// Returns the last lines after an offset, without characters that control a terminal. Long lines are
  /// cut.
  func lastLines(_ count: Int, after offset: Int) -> [String] {
    guard let file = try? FileDescriptor.open(path, .readOnly), let size = try? file.status.size
    else { return [] }
    defer { try? file.close() }
    let limit = 64 << 10
    try? file.seek(to: max(offset, size - limit))
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: limit)
    while bytes.count <= limit, let read = try? file.read(into: &block), read > 0 {
      bytes += block[..<read]
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .suffix(count).map { String($0.prefix(500)).onOneLine }
  }
}
