import SystemSupport

/// Standard output without a buffer, so that a program that is killed loses nothing.
public struct StandardOutput: Sendable {
  private let descriptor = FileDescriptor.standardOutput

  public init() {}

  /// Writes all bytes.
  ///
  /// - Throws: An error that names the reason, such as a full disk. A pipe without a reader ends the
  ///   program with SIGPIPE, unless the signal is ignored.
  public func write(_ bytes: [UInt8]) throws {
    try descriptor.write(bytes, brokenPipe: .signal)
  }

  /// Whether standard output is a file, so that it does not appear on a terminal.
  public var isFile: Bool { (try? descriptor.status)?.kind == .file }

  /// The width in characters; nil without a terminal.
  public var width: Int? { descriptor.isTerminal ? TerminalSize(of: descriptor).columns : nil }
}

/// Standard error, for messages.
public struct StandardError: Sendable {
  private let descriptor = FileDescriptor.standardError

  public init() {}

  public var isTerminal: Bool { descriptor.isTerminal }

  /// The size of the terminal.
  public var size: TerminalSize { TerminalSize(of: descriptor) }

  public func writeLine(_ text: String) { write(text + "\n") }

  // Errors are ignored, because there is no other place to report them.
  public func write(_ text: String) { try? descriptor.write(Array(text.utf8), brokenPipe: .signal) }
}

/// The size of a terminal in characters.
public struct TerminalSize: Sendable {
  public let columns: Int
  public let rows: Int

  init(of descriptor: FileDescriptor) { (columns, rows) = descriptor.terminalSize ?? (80, 24) }
}
