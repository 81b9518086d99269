/// An error for tests in which the cause does not matter.
///
/// ```swift
/// let fetch = ScriptedOperation<Page>(
///   "fetch", runs: [.error(ScriptedError("offline")), .result(Page())])
/// ```
public struct ScriptedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The description, which also distinguishes errors.
  public let description: String

  /// Creates an error.
  ///
  /// - Parameter description: The description, which also distinguishes errors.
  public init(_ description: String) { self.description = description }
}
