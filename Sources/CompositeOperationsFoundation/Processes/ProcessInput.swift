/// The standard input of a program.
public enum ProcessInput: Sendable {
  /// No input. It ends at once.
  case nothing
  /// Bytes.
  case bytes([UInt8])
  /// A text, encoded as UTF-8.
  case text(String)
  /// The contents of a file, or of a named pipe that already has a writer. A relative path starts
  /// at the working folder of this process.
  case file(String)
}
