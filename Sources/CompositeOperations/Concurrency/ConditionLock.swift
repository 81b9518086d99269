internal import ThreadSupport

/// A lock with a condition variable, for a thread of the package that waits until another thread
/// changes the state.
///
/// The rules of a ``Lock`` apply. Tasks must not wait here, because waiting blocks the thread.
// Sendable: the state is used only with the mutex locked.
@safe final class ConditionLock<State: Sendable>: @unchecked Sendable {
  /// The result of a waiting thread's check of the state.
  enum Decision<Result: Sendable> {
    case leave(Result)
    /// Check again after a signal, or after this many nanoseconds.
    case wait(atMost: Int64)
  }

  private let mutex = SystemMutex()
  private let condition = SystemCondition()
  // Allocated from `init` to `deinit`, like the state of a `BusyLock`.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  init(_ state: State) { unsafe self.state.initialize(to: state) }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    mutex.lock()
    HeldLocks.acquired()
    defer {
      HeldLocks.released()
      mutex.unlock()
    }
    return unsafe body(&state.pointee)
  }

  /// Wakes one waiting thread.
  func signal() { condition.signal() }

  /// Blocks the calling thread until a check of the state gives a result.
  ///
  /// - Parameter look: Checks the state with the lock held. Called first at once, and then after
  ///   every signal and every timeout.
  func waiting<Result: Sendable>(_ look: (inout State) -> Decision<Result>) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    while true {
      switch unsafe look(&state.pointee) {
      case .leave(let result): return result
      case .wait(let nanoseconds):
        condition.wait(unlocking: mutex, atMost: max(0, nanoseconds))
      }
    }
  }
}
