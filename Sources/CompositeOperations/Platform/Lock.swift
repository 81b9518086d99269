#if !SANITIZER
  internal import Synchronization
#endif

/// The lock of the package; what many threads fight for has a ``BusyLock``, and nothing else touches a
/// mutex.
///
/// No user code runs under it: no closure, `description`, `==` or `hash(into:)`, no `resume` and no
/// `cancel`. Nor is a user's value freed under it, because a `deinit` is user code too. So move the
/// values to use or to free out of the state, release the lock, then act. Tests check this with
/// ``HeldLocks``.
///
/// It is a `Synchronization.Mutex`, and a pthread mutex where `SANITIZER` is defined: the thread
/// sanitizer does not see the former on Linux and reports races on what it guards.
package struct Lock<State: Sendable>: ~Copyable, Sendable {
  #if SANITIZER
    private let mutex: BusyLock<State>
  #else
    private let mutex: Mutex<State>
  #endif

  package init(_ state: State) {
    #if SANITIZER
      mutex = BusyLock(state)
    #else
      mutex = Mutex(state)
    #endif
  }

  package borrowing func withLock<Result: Sendable>(
    _ body: (inout State) -> Result
  ) -> Result {
    #if !SANITIZER
      HeldLocks.acquired()
      defer { HeldLocks.released() }
    #endif
    return mutex.withLock { body(&$0) }
  }
}
