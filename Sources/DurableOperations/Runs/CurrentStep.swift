public import Foundation

/// The step that a run has not finished, as far as the store knows it.
public struct CurrentStep: Sendable {
  /// The name of its operation.
  public let name: String
  /// When it began, or when its attempt began if it is retried.
  public let began: Date?
  /// The number of the last attempt that has begun, from 1; nil if the step is not retried durably.
  public let attempt: Int?
  /// The largest number of attempts; nil if it is not known.
  public let attemptLimit: Int?
  /// The error of the last attempt that failed, as text.
  public let lastError: String?
  /// When the next attempt begins; nil while an attempt runs.
  public let nextAttempt: Date?
}

extension RunDetails {
  /// The step that the run has not finished; nil if the run has ended, or if the store does not know the
  /// step: it takes less than a second and stores nothing. In PostgreSQL, no step is known that stores nothing.
  public var currentStep: CurrentStep? {
    if summary.state.hasEnded { return nil }
    let parts = steps.filter { !$0.key.isEmpty && $0.position == summary.step }
    guard let name = parts.first?.name ?? running?.name else { return nil }
    // The name of the step itself, and otherwise of the part that was stored last.
    let attempts = parts.filter { $0.kind == .attempts }
    let own = JournalKey(reserved: "retry").text
    let retry = attempts.first { $0.key == own } ?? attempts.max { $0.ended < $1.ended }
    let record = retry?.value.flatMap {
      try? JSONDecoder().decode(AttemptRecord.self, from: Data($0.utf8))
    }
    return CurrentStep(
      name: name,
      began: retry?.began ?? running.map { Date(milliseconds: $0.began) }
        ?? parts.map(\.began).min(),
      attempt: retry?.attempts, attemptLimit: record?.limit,
      lastError: record?.errors.last.map { "\($0.type): \($0.description)" },
      nextAttempt: record?.wake.map { Date(milliseconds: $0) })
  }
}
