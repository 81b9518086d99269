package import SystemSupport

/// The standard error stream of the process, for messages and progress.
///
/// Errors of writing are ignored, because there is no other place to report them: a program whose
/// standard error is closed, or is a file on a full disk, continues without its messages. As for
/// ``StandardOutput``, SIGPIPE ends a process whose messages have lost their reader, unless the process
/// ignores the signal.
public struct StandardError: Sendable {
  private let descriptor: FileDescriptor

  /// Creates a value that writes to the standard error stream of the process.
  public init() { descriptor = .standardError }

  package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// Whether the stream is a terminal on which a person can see a progress display. A terminal is
  /// none without the environment variable `TERM`, or with `TERM=dumb`, because it may not understand
  /// escape sequences.
  public var isTerminal: Bool { descriptor.isScreen }

  /// Writes text as UTF-8.
  public func write(_ text: String) { try? descriptor.write(Array(text.utf8), brokenPipe: .signal) }

  /// Writes text and a line break, in one write, so that lines of several tasks are not mixed.
  public func writeLine(_ text: String) { write(text + "\n") }

  /// Writes a message of a failure and a line break. On a terminal, the first line is red, unless the
  /// environment variable [NO_COLOR](https://no-color.org) has a value.
  public func writeFailure(_ text: String) { writeLine(descriptor.highlightedFailure(text)) }

  /// The size of the terminal; 80 by 24 characters without one.
  package var size: TerminalSize { TerminalSize(of: descriptor) }
}
