/// Observes the operations of a pool, and may refuse them.
///
/// ```swift
/// struct Gatekeeper: OperationPoolDelegate {
///   func willTake(_ member: PoolMember) throws {
///     if member.priority < .normal, isOnBattery { throw SavingPowerError() }
///   }
/// }
/// ```
///
/// The pool calls it synchronously wherever operations are submitted, begin and end. Calls for
/// several operations may be concurrent; calls for one operation are made in their order.
public protocol OperationPoolDelegate: Sendable {
  /// Called when an operation is submitted.
  ///
  /// - Throws: An error to refuse the operation. Its run ends in this error.
  func willTake(_ member: PoolMember) throws

  /// Called when an operation begins. It keeps its place until ``didEnd(_:in:)`` has returned.
  func didBegin(_ member: PoolMember)

  /// Called once when the run of an operation has ended, even if it never began. Not called for
  /// operations that ``willTake(_:)`` has refused.
  func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>)
}

extension OperationPoolDelegate {
  /// Accepts the operation.
  public func willTake(_ member: PoolMember) throws {}
  /// Does nothing.
  public func didBegin(_ member: PoolMember) {}
  /// Does nothing.
  public func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>) {}
}

/// An operation that was submitted to a pool.
public struct PoolMember: Sendable, Identifiable {
  /// The identity of the run, which its handle and its events share.
  public let id: OperationID
  /// The operation.
  public let operation: any ComposableOperation
  /// The priority among the waiting operations.
  public let priority: OperationPool.Priority
  /// Whether the operation runs alone, between earlier and later ones.
  public let isBarrier: Bool

  /// The name of the operation.
  public var name: String { operation.operationName }
}
