import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import SystemSupport

/// The log of a step or a child in a run: a line before each command, and its output.
struct FlowLog: Sendable {
  /// The note about output that was not read to its end.
  static let heldOpen =
    "a background process holds the output open; its later output is not in this log"

  let path: String
  private let secrets: FlowSecrets

  /// - Parameter secrets: What the log does not have.
  init(_ path: String, hiding secrets: FlowSecrets) {
    self.path = path
    self.secrets = secrets
  }

  /// Appends a line with a label, the time and a command.
  ///
  /// - Returns: The bytes of the log that the line takes.
  @discardableResult
  func begin(_ words: [String], as label: String) throws(SystemError) -> Range<Int> {
    let command = words.map { secrets.hidden(in: $0).quotedForShell }.joined(separator: " ")
      .onOneLine
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
    let bytes = end + secrets.hidden(in: bytes)
    try file.write(bytes, brokenPipe: .error)
    // Background processes may write, too.
    let position = try file.position
    return (position - bytes.count)..<position
  }

  /// Performs a process, and appends its output.
  ///
  /// - Parameter limit: How many bytes of the standard output the result has; nil for none.
  func perform(
    _ process: ProcessOperation, keeping limit: Int?, in context: OperationContext
  ) async throws -> ProcessResult {
    guard let limit else {
      let result = try await receiving(process).perform(in: context)
      if !result.output.isComplete {
        try append(Array("[\(Self.heldOpen)]\n".utf8), onNewLine: true)
      }
      return result
    }
    // The caller reports standard output that is not complete.
    var process = process.sendingOutput(to: .kept(first: limit)).draining(for: .seconds(5))
    if secrets.isEmpty {
      process = process.sendingErrorOutput(to: .appended(to: path))
    } else {
      process = process.sendingErrorOutput(to: .discarded).onErrorLine(try appendingLines())
    }
    do {
      let result = try await process.perform(in: context)
      try append(result.output.bytes)
      return result
    } catch let error as ProcessExitError {
      try append(error.result.output.bytes)
      throw error
    }
  }

  /// Returns a process whose output is appended.
  func receiving(_ process: ProcessOperation) throws(SystemError) -> ProcessOperation {
    if secrets.isEmpty {
      return process.sendingOutput(to: .appended(to: path)).mergingErrorOutput()
    }
    // A step that has succeeded may leave processes in the background.
    return process.sendingOutput(to: .discarded).mergingErrorOutput()
      .draining(for: .milliseconds(100)).onOutputLine(try appendingLines())
  }

  private typealias LineHandler = nonisolated(nonsending) @Sendable (String) async throws -> Void

  private func appendingLines() throws(SystemError) -> LineHandler {
    let file = OpenLog(
      try FileDescriptor.open(path, .writeOnly, [.create, .append], permissions: 0o600))
    return { [secrets] line in
      try file.descriptor.write(
        secrets.hidden(in: Array(line.utf8)) + [.lineFeed], brokenPipe: .error)
    }
  }

  /// A log that stays open while lines are appended.
  private final class OpenLog: Sendable {
    let descriptor: FileDescriptor
    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }
    deinit { try? descriptor.close() }
  }

  /// Returns the last lines after an offset, without characters that control a terminal. Long lines
  /// are cut.
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
