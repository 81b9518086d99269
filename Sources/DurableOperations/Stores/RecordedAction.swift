/// An action of a person on a run, as a store keeps it.
package struct RecordedAction: Sendable {
  /// Such as `cancel`.
  package let action: String
  /// The reason of a cancellation, the first step of a retry, or the name of an event; nil for nothing.
  package let detail: String?
  /// The person, as far as the program knows the name.
  package let actor: String
  /// When it began, in milliseconds since the beginning of 1970, UTC.
  package let began: Int64
  /// When the store answered, in the same unit; nil if the process of the request has ended before that, so that it
  /// is not known whether it was done.
  package let ended: Int64?
  /// Why it was refused, or has failed; nil if it was done.
  package let problem: String?

  package init(
    action: String, detail: String?, actor: String, began: Int64, ended: Int64? = nil,
    problem: String? = nil
  ) {
    (self.action, self.detail, self.actor) = (action, detail, actor)
    (self.began, self.ended, self.problem) = (began, ended, problem)
  }

  /// The outcome: `done`, the problem, or that it is not known.
  package var result: String {
    ended == nil ? "not known whether it was done" : problem ?? "done"
  }
}
