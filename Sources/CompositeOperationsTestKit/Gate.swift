internal import CompositeOperations

/// A gate at which tasks wait until a test opens it.
///
/// ```swift
/// let gate = Gate()
/// let run = ParallelOperation(items.map { item in
///   SimpleOperation { try await gate.pass(); return try await use(item) }
/// }).start()
/// await gate.waitForArrivals(2)  // both are in flight now
/// gate.open()
/// ```
public final class Gate: Sendable {
  private let machine: Lock<StateMachine>

  /// Creates a gate.
  ///
  /// - Parameter isOpen: Whether the gate is open from the beginning.
  public init(isOpen: Bool = false) { machine = Lock(StateMachine(isOpen: isOpen)) }

  /// Opens the gate for tasks that wait now, and for all later ones.
  public func open() { machine.withLock { $0.opened() }.perform() }

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func pass() async throws {
    let id = machine.withLock { $0.makeID() }
    let hasPassed = await withTaskCancellationHandler {
      await wait(as: id)
    } onCancel: {
      machine.withLock { $0.cancelled(id) }.perform()
    }
    machine.withLock { $0.left(id) }
    if !hasPassed { throw CancellationError() }
  }

  /// Waits until the gate is open, even if the task is cancelled, as a body that ignores its
  /// cancellation does.
  public func passIgnoringCancellation() async {
    let id = machine.withLock { $0.makeID() }
    _ = await wait(as: id)
  }

  /// The number of tasks that have arrived at the gate so far, including those that have passed it.
  public var arrivals: Int { machine.withLock { $0.arrivals } }

  /// Waits until a number of tasks have arrived at the gate.
  ///
  /// - Parameter count: The number of tasks.
  public func waitForArrivals(_ count: Int) async {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.waited(forArrivals: count, continuation) }.perform()
    }
  }

  private func wait(as id: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      machine.withLock { $0.arrived(id, continuation) }.perform()
    }
  }
}
