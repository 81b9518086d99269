#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A lock for contended state, with the rules of a ``Lock``.
///
/// It is a pthread mutex. A `Synchronization.Mutex` needs no allocation, but on Linux an unlock
/// hands it to a waiting thread: with more threads than processors every acquisition is then a
/// thread switch, and several times as slow.
// Sendable, because the state is used only with the mutex locked.
@safe package final class BusyLock<State: Sendable>: @unchecked Sendable {
  // Allocated from `init` to `deinit`, because a pthread mutex must not move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  // Allocated too: the exclusivity of each access to a class property is checked at run time, which
  // the lock makes unnecessary.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  package init(_ state: State) {
    unsafe self.state.initialize(to: state)
    unsafe mutex.initialize(to: pthread_mutex_t())
    #if canImport(Glibc)
      // Spins for a short time before the thread sleeps.
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
