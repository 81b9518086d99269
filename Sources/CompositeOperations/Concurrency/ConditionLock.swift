internal import SystemSupport

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

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

  // Allocated from `init` to `deinit`, because neither must move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  init(_ state: State) {
    unsafe self.state.initialize(to: state)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      unsafe pthread_cond_init(condition, nil)
    #else
      // Not the wall clock, which can be adjusted.
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    HeldLocks.acquired()
    defer {
      HeldLocks.released()
      unsafe pthread_mutex_unlock(mutex)
    }
    return unsafe body(&state.pointee)
  }

  /// Wakes one waiting thread.
  func signal() { unsafe pthread_cond_signal(condition) }

  /// Blocks the calling thread until a check of the state gives a result.
  ///
  /// - Parameter look: Checks the state with the lock held. Called first at once, and then after
  ///   every signal and every timeout.
  func waiting<Result: Sendable>(_ look: (inout State) -> Decision<Result>) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      switch unsafe look(&state.pointee) {
      case .leave(let result): return result
      // At most an hour, because some systems cannot represent much later times.
      case .wait(let nanoseconds): wait(atMost: min(max(0, nanoseconds), 3_600_000_000_000))
      }
    }
  }

  private func wait(atMost nanoseconds: Int64) {
    #if canImport(Darwin)
      var time = timespec(nanoseconds: nanoseconds)
      unsafe _ = pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var time = timespec(nanoseconds: MonotonicTime.now + nanoseconds)
      unsafe _ = pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }
}

extension timespec {
  fileprivate init(nanoseconds: Int64) {
    self.init()
    tv_sec = Int(nanoseconds / 1_000_000_000)
    tv_nsec = Int(nanoseconds % 1_000_000_000)
  }
}
