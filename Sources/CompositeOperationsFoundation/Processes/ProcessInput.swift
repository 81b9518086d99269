/// What a program reads on its standard input.
public enum ProcessInput: Sendable {
  /// Nothing: the input ends at once.
  case nothing
  case bytes([UInt8])
  /// A text, as UTF-8.
  case text(String)
  /// The contents of a file, or of a named pipe that somebody writes to already. A path that does not begin with a
  /// slash starts at the folder of this process.
  case file(String)
}
