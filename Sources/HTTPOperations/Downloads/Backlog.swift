internal import CompositeOperations
internal import CompositeOperationsFoundation
internal import Dispatch

/// Performs blocking steps in order, on a thread that may block, while the producer continues.
///
/// The number of pending bytes is limited: at the limit, the producer waits (back pressure). It adds
/// one step at a time.
final class Backlog: Sendable {
  typealias Step = @Sendable () throws -> Void

  private let machine: Lock<StateMachine>
  private let threads: BlockingThreads
  /// Signaled when the producer waits for room and has to check again.
  private let room = DispatchSemaphore(value: 0)

  init(of byteCount: Int, on threads: BlockingThreads) {
    machine = Lock(StateMachine(limit: byteCount))
    self.threads = threads
  }

  /// Whether the producer no longer waits for room.
  var isStopped: Bool { machine.withLock { $0.isStopped } }

  /// Appends a step. Waits for room if there is none.
  ///
  /// - Parameter byteCount: The number of bytes that the step keeps in memory.
  /// - Throws: The error of an earlier step. No step is performed after it.
  func add(_ byteCount: Int, _ step: @escaping Step) throws {
    while true {
      switch machine.withLock({ $0.added(byteCount, step) }) {
      case .nothing: return
      case .work:
        threads.add { self.work() }
        return
      case .waitForRoom: room.wait()
      case .fail(let error): throw error
      }
    }
  }

  /// Ends the waits of the producer. Steps that it adds from now on are dropped; earlier ones are
  /// performed.
  func stop() {
    if machine.withLock({ $0.stopped() }) { room.signal() }
  }

  /// Waits until all steps have been performed, even if the task is cancelled.
  ///
  /// - Throws: The error of a step.
  func finish() async throws {
    let result: Result<Void, any Error> = await withCheckedContinuation { waiter in
      if let result = machine.withLock({ $0.finished(waiter) }) { waiter.resume(returning: result) }
    }
    try result.get()
  }

  private func work() {
    while true {
      switch machine.withLock({ $0.nextStep() }) {
      case .perform(let byteCount, let step):
        let result = Result { try step() }
        if machine.withLock({ $0.performed(byteCount, result) }) { room.signal() }
      case .end(let waiter, let result, unperformed: _):
        waiter?.resume(returning: result)
        return
      }
    }
  }
}
