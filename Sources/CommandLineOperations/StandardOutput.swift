package import SystemSupport

/// The standard output of the process, for results.
///
/// It has no buffer, so a program that is killed loses nothing that it has written. Tasks that write
/// at the same time can mix their output.
public struct StandardOutput: Sendable {
  private let descriptor: FileDescriptor

  /// Creates a value that writes to the standard output of the process.
  public init() { descriptor = .standardOutput }

  package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// Writes all bytes, and waits until the reader of a pipe has room for them.
  ///
  /// If the reader of the pipe has ended, as in `tool | head -1`, SIGPIPE ends the process without a
  /// message. If the process ignores the signal, an error is thrown instead.
  ///
  /// - Throws: An error whose description is the reason of the system: a full disk, standard output
  ///   that is closed, or a pipe without a reader. Some of the bytes may have been written.
  public func write(_ bytes: [UInt8]) throws {
    try descriptor.write(bytes, brokenPipe: .signal)
  }

  /// Writes text as UTF-8, as ``write(_:)-([UInt8])`` writes its bytes.
  ///
  /// - Throws: An error whose description is the reason of the system.
  public func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// Whether standard output is a file, so that it does not appear on a terminal.
  package var isFile: Bool { (try? descriptor.status)?.kind == .file }

  /// Returns a line about a failure, in red if the output shows colors.
  package func highlightedFailure(_ line: String) -> String {
    descriptor.highlightedFailure(line)
  }

  /// The width in characters; nil without a terminal.
  package var width: Int? { descriptor.isTerminal ? TerminalSize(of: descriptor).columns : nil }
}
