/// An error for tests in which it does not matter what went wrong.
///
/// ```swift
/// let fetch = ScriptedOperation<Page>("fetch", runs: [.error(ScriptedError("offline")), .result(Page())])
/// ```
public struct ScriptedError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  /// - Parameter description: What went wrong, for messages and to tell errors apart.
  public init(_ description: String) { self.description = description }
}
