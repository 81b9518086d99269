/// Sees the operations of a pool come and go, and may refuse them.
///
/// ```swift
/// struct Gatekeeper: OperationPoolDelegate {
///   func willTake(_ member: PoolMember) throws {
///     if member.priority < .normal, isOnBattery { throw SavingPowerError() }
///   }
/// }
/// ```
///
/// It is called from wherever operations are submitted, begin and end, also by several at the same time,
/// but about one operation in the order of its life. The pool waits for it.
public protocol OperationPoolDelegate: Sendable {
  /// An operation is submitted.
  ///
  /// - Throws: An error that refuses the operation, and in which its run ends.
  func willTake(_ member: PoolMember) throws

  /// An operation begins: it has a place, which it keeps until ``didEnd(_:in:)`` has returned.
  func didBegin(_ member: PoolMember)

  /// The run of an operation has ended, also if it never began. It is told once of every operation that
  /// ``willTake(_:)`` did not refuse.
  func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>)
}

extension OperationPoolDelegate {
  public func willTake(_ member: PoolMember) throws {}
  public func didBegin(_ member: PoolMember) {}
  public func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>) {}
}

/// An operation that was submitted to a pool.
public struct PoolMember: Sendable, Identifiable {
  /// The identity of the run, which its handle and its events bear too.
  public let id: OperationID
  public let operation: any ComposableOperation
  public let priority: OperationPool.Priority
  public let isBarrier: Bool

  /// The name of the operation.
  public var name: String { operation.operationName }
}
