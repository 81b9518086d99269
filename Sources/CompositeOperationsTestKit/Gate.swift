internal import CompositeOperations

/// A gate at which tasks wait until somebody opens it.
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

  /// - Parameter isOpen: Whether everybody may pass from the beginning.
  public init(isOpen: Bool = false) { machine = Lock(StateMachine(isOpen: isOpen)) }

  /// Lets everybody through from now on, also those who wait.
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

  /// Waits until the gate is open, whether the task is cancelled or not: as a body does that ignores
  /// its cancellation.
  public func passIgnoringCancellation() async {
    let id = machine.withLock { $0.makeID() }
    _ = await wait(as: id)
  }

  /// How many have come to the gate so far, whether they are still there or not.
  public var arrivals: Int { machine.withLock { $0.arrivals } }

  /// Waits until a number of tasks have come to the gate.
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
