/// An error that ends a run as cancelled, with a reason.
///
/// ```swift
/// let issues = FetchRepositories(user: "octocat").then { repositories in
///   if repositories.isEmpty { throw Skipped(because: "there are no repositories") }
///   return FetchIssues(repository: repositories[0])
/// }
/// ```
///
/// The reason is on the event of the end of the run, and on its handle.
public struct Skipped: Error, Hashable, Sendable {
  /// Why the operation was skipped.
  public let reason: String

  /// Whether a condition that throws this has answered. If not, neither it nor its negation is met.
  let isAnswer: Bool

  /// Creates an error that ends a run as cancelled.
  ///
  /// - Parameter reason: Why the operation was skipped.
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
  /// Always `true`.
  public var representsCancellation: Bool { true }
}

extension Skipped: CustomStringConvertible {
  public var description: String { "skipped: \(reason)" }
}
