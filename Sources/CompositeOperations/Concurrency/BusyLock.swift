internal import ThreadSupport

/// A lock for contended state, with the rules of a ``Lock``.
///
/// It is a pthread mutex. A `Synchronization.Mutex` needs no allocation, but on Linux an unlock
/// hands it to a waiting thread: with more threads than processors every acquisition is then a
/// thread switch, and several times as slow.
// Sendable, because the state is used only with the mutex locked.
@safe package final class BusyLock<State: Sendable>: @unchecked Sendable {
  private let mutex = SystemMutex(spinning: true)
  // Allocated from `init` to `deinit`: the exclusivity of each access to a class property is checked
  // at run time, which the lock makes unnecessary.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  package init(_ state: State) { unsafe self.state.initialize(to: state) }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    mutex.lock()
    HeldLocks.acquired()
    defer {
      HeldLocks.released()
      mutex.unlock()
    }
    return unsafe body(&state.pointee)
  }
}
