import SystemSupport

/// Standard output without a buffer, so that a program that is killed loses nothing.
struct StandardOutput: Sendable {
  private let descriptor = FileDescriptor.standardOutput

  func write(_ bytes: [UInt8]) throws(SystemError) {
    try descriptor.write(bytes, brokenPipe: .signal)
  }

  /// Whether standard output is a file, so that it does not appear on a terminal.
  var isFile: Bool { (try? descriptor.status)?.kind == .file }

  /// The width in characters; nil without a terminal.
  var width: Int? { descriptor.isTerminal ? TerminalSize(of: descriptor).columns : nil }
}

/// Standard error, for messages.
struct StandardError: Sendable {
  private let descriptor = FileDescriptor.standardError

  var isTerminal: Bool { descriptor.isTerminal }

  /// The size of the terminal.
  var size: TerminalSize { TerminalSize(of: descriptor) }

  func writeLine(_ text: String) { write(text + "\n") }

  // Errors are ignored, because there is no other place to report them.
  func write(_ text: String) { try? descriptor.write(Array(text.utf8), brokenPipe: .signal) }
}

/// The size of a terminal in characters.
struct TerminalSize {
  let columns: Int
  let rows: Int

  init(of descriptor: FileDescriptor) { (columns, rows) = descriptor.terminalSize ?? (80, 24) }
}
