internal import CompositeOperations
internal import Dispatch

/// Does what blocks in order on a thread that may block, while its owner goes on.
///
/// So many bytes may wait, and then the owner does. It adds one step at a time.
final class Backlog: Sendable {
  typealias Step = @Sendable () throws -> Void

  private let machine: Lock<StateMachine>
  private let threads: BlockingThreads
  /// Raised when the owner waits for room and is to look again.
  private let room = DispatchSemaphore(value: 0)

  init(of byteCount: Int, on threads: BlockingThreads) {
    machine = Lock(StateMachine(limit: byteCount))
    self.threads = threads
  }

  /// Whether nothing is to be waited for any more.
  var isStopped: Bool { machine.withLock { $0.isStopped } }

  /// Adds a step behind the others, and waits for room where there is none.
  ///
  /// - Parameter byteCount: What the step keeps in memory.
  /// - Throws: What an earlier step threw; no other is done after it.
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

  /// Lets the owner wait no longer. What it adds from now on is dropped; what was added before is done.
  func stop() {
    if machine.withLock({ $0.stopped() }) { room.signal() }
  }

  /// Waits until everything that was added is done, whether the task is cancelled or not.
  ///
  /// - Throws: What a step threw.
  func finish() async throws {
    let result: Result<Void, any Error> = await withCheckedContinuation { waiter in
      if let result = machine.withLock({ $0.finished(waiter) }) { waiter.resume(returning: result) }
    }
    try result.get()
  }

  private func work() {
    while true {
      switch machine.withLock({ $0.looked() }) {
      case .perform(let byteCount, let step):
        let result = Result { try step() }
        if machine.withLock({ $0.performed(byteCount, result) }) { room.signal() }
      case .end(let waiter, let result, undone: _):
        waiter?.resume(returning: result)
        return
      }
    }
  }
}
