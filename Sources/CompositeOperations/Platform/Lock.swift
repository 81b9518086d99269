#if !SANITIZER
  internal import Synchronization
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The one lock of the package; nothing else touches a mutex.
///
/// Nobody's code runs under it: take out of the state what is needed, leave, then act.
///
/// It is a `Synchronization.Mutex`, and a pthread mutex where `SANITIZER` is defined: the thread
/// sanitizer does not see the former on Linux and reports races on what it guards.
package struct Lock<State: Sendable>: ~Copyable, Sendable {
  #if SANITIZER
    private let storage: Storage

    package init(_ state: State) { storage = Storage(state) }

    package borrowing func withLock<Result: Sendable>(
      _ body: (inout State) -> Result
    ) -> Result {
      storage.withLock(body)
    }

    // Sendable, because `state` is reached between lock and unlock alone.
    @safe private final class Storage: @unchecked Sendable {
      // A pthread mutex must not move, so it has memory of its own from `init` to `deinit`.
      private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      private var state: State

      init(_ state: State) {
        self.state = state
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
      }

      deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
      }

      func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&state)
      }
    }
  #else
    private let mutex: Mutex<State>

    package init(_ state: State) { mutex = Mutex(state) }

    package borrowing func withLock<Result: Sendable>(
      _ body: (inout State) -> Result
    ) -> Result {
      mutex.withLock { body(&$0) }
    }
  #endif
}
