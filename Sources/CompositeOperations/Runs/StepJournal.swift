/// The journal of a durable run, as far as the core knows it.
///
/// The environment of a step contains it, so that operations at any depth find it.
package protocol StepJournal: Sendable {
  /// See ``OperationContext/idempotencyKey``.
  var idempotencyKey: String { get }
  /// See ``OperationContext/fencingToken``.
  var fencingToken: Int { get }

  /// The journal for another attempt of the same work, which may use the same keys again.
  var forNextAttempt: any StepJournal { get }
}
