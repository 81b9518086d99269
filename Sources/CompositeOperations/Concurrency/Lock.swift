internal import ThreadSupport

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

/// Counts the package's locks that the calling thread holds. Tests use it to check that no user
/// code runs under a lock.
///
/// Only debug builds count. In a release build the count is always 0 and costs nothing.
package enum HeldLocks {
  #if DEBUG
    private static let word = ThreadLocalWord()

    package static var count: Int {
      get { unsafe Int(bitPattern: word.value) }
      set { unsafe word.value = UnsafeMutableRawPointer(bitPattern: newValue) }
    }
  #else
    package static var count: Int { 0 }
  #endif

  /// Whether locks are counted.
  package static var isCounting: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  @inline(__always) static func acquired() {
    #if DEBUG
      count += 1
    #endif
  }

  @inline(__always) static func released() {
    #if DEBUG
      count -= 1
    #endif
  }
}
