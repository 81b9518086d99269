/// Ends what throws it as cancelled instead of in an error, and says why on the event.
///
/// ```swift
/// let issues = FetchRepositories(user: "octocat").then { repositories in
///   if repositories.isEmpty { throw Skipped(because: "there are no repositories") }
///   return FetchIssues(repository: repositories[0])
/// }
/// ```
public struct Skipped: Error, Hashable, Sendable {
  /// Why.
  public let reason: String

  public init(because reason: String) { self.reason = reason }
}

extension Skipped: CancellationRepresenting {
  public var representsCancellation: Bool { true }
}

extension Skipped: CustomStringConvertible {
  public var description: String { "skipped because \(reason)" }
}
