/// An error for invalid arguments: what was given, and what was expected.
///
/// ``CommandLineProgram`` prints it and exits with ``ExitCode/usage``.
public struct UsageError: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
