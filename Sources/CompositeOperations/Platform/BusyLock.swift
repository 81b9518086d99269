#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A lock for what many threads fight for, with the rules of a ``Lock``.
///
/// It is a pthread mutex. A `Synchronization.Mutex` takes no memory of its own, but on Linux it hands itself
/// on to whoever waits: with more threads than processors every turn is then a change of threads, and
/// several times as slow.
// Sendable, because the state is reached between lock and unlock alone.
@safe package final class BusyLock<State: Sendable>: @unchecked Sendable {
  // A pthread mutex must not move, so it has memory of its own from `init` to `deinit`.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  // In memory of its own too: of a property of a class every access is checked at run time for others at the
  // same time, which the lock rules out.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  package init(_ state: State) {
    unsafe self.state.initialize(to: state)
    unsafe mutex.initialize(to: pthread_mutex_t())
    #if canImport(Glibc)
      // Looks a few times whether the lock is free before the thread goes to sleep.
      var attributes = pthread_mutexattr_t()
      unsafe pthread_mutexattr_init(&attributes)
      unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
      unsafe pthread_mutex_init(mutex, &attributes)
      unsafe pthread_mutexattr_destroy(&attributes)
    #else
      unsafe pthread_mutex_init(mutex, nil)
    #endif
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    HeldLocks.acquired()
    defer {
      HeldLocks.released()
      unsafe pthread_mutex_unlock(mutex)
    }
    return unsafe body(&state.pointee)
  }
}
