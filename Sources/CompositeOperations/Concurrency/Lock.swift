#if !SANITIZER
  internal import Synchronization
#endif

/// The package's lock. Contended state has a ``BusyLock``, and a thread that waits for a change of
/// the state has a ``ConditionLock``; nothing else uses a mutex.
///
/// No user code runs under it: no closure, `description`, `==` or `hash(into:)`, no `resume` and no
/// `cancel`. Nor is a user's value released under it, because a `deinit` is user code too. So move
/// the values to use or to release out of the state, unlock, then act. Tests check this with
/// ``HeldLocks``.
///
/// It is a `Synchronization.Mutex`, or a pthread mutex if `SANITIZER` is defined: on Linux the
/// thread sanitizer does not know the former, and reports races on the protected state.
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
