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

  /// Whether that is an answer. A condition that stopped early has given none, and neither has its
  /// negation.
  let isAnswer: Bool

  public init(because reason: String) { self.init(because: reason, isAnswer: true) }

  init(because reason: String, isAnswer: Bool) {
    self.reason = reason
    self.isAnswer = isAnswer
  }
}

extension Skipped {
  public static func == (left: Skipped, right: Skipped) -> Bool { left.reason == right.reason }

  public func hash(into hasher: inout Hasher) { hasher.combine(reason) }
}

extension Skipped: CancellationRepresenting {
  public var representsCancellation: Bool { true }
}

extension Skipped: CustomStringConvertible {
  public var description: String { "skipped: \(reason)" }
}
