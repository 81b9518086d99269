/// The journal of a durable run, as far as the core knows it.
///
/// The environment of a step contains it, so that operations at any depth find it.
package protocol StepJournal: Sendable {
  /// See ``OperationContext/idempotencyKey``.
  var idempotencyKey: String { get }
  /// See ``OperationContext/fencingToken``.
  var fencingToken: Int { get }

  /// Returns the journal of an attempt, which may use the keys of the other attempts again.
  func forAttempt(_ number: Int) -> any StepJournal

  /// Returns the journal of one of several attempts that run at the same time, which may use the
  /// keys of the other attempts too. The first attempt also has a journal of its own.
  func forConcurrentAttempt(_ number: Int) -> any StepJournal
}
