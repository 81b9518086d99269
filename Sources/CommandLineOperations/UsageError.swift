/// An error for invalid arguments of a program.
///
/// ```swift
/// import CommandLineOperations
/// func width(_ text: String) throws(UsageError) -> Int {
///   guard let width = Int(text), width > 0 else {
///     throw UsageError("count: invalid width \(text); expected a number >= 1")
///   }
///   return width
/// }
/// ```
///
/// ``CommandLineProgram`` prints it and exits with ``ExitStatus/usage``.
public struct UsageError: Error, CustomStringConvertible {
  /// The message: the command, what was given, and what was expected.
  public let description: String

  /// Creates an error with a message.
  public init(_ description: String) { self.description = description }
}
