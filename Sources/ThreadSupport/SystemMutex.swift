/// A pthread mutex.
// `@inlinable`, because a call into another module would be a large part of an uncontended lock.
// Public, because the compiler does not inline members of `package` types into other modules.
// Safe by itself: the address is valid from `init` to `deinit`.
@safe public struct SystemMutex: ~Copyable {
  // Allocated, because a pthread mutex must not move.
  @usableFromInline let address: UnsafeMutablePointer<pthread_mutex_t>

  /// - Parameter spins: Whether a thread spins for a short time before it sleeps, if the system
  ///   supports that.
  @inlinable package init(spinning spins: Bool = false) {
    unsafe address = .allocate(capacity: 1)
    unsafe address.initialize(to: pthread_mutex_t())
    #if canImport(Glibc)
      if spins {
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(address, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
        return
      }
    #endif
    unsafe pthread_mutex_init(address, nil)
  }

  @inlinable deinit {
    unsafe pthread_mutex_destroy(address)
    unsafe address.deallocate()
  }

  @inlinable package func lock() { unsafe pthread_mutex_lock(address) }

  @inlinable package func unlock() { unsafe pthread_mutex_unlock(address) }
}

/// A pthread condition variable, which lets threads wait for a change that another thread makes
/// with a mutex locked.
@safe package struct SystemCondition: ~Copyable {
  // Allocated, because a pthread condition variable must not move.
  private let address: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    unsafe address = .allocate(capacity: 1)
    unsafe address.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      unsafe pthread_cond_init(address, nil)
    #else
      // Not the wall clock, which can be adjusted.
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(address, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(address)
    unsafe address.deallocate()
  }

  /// Wakes one waiting thread.
  package func signal() { unsafe pthread_cond_signal(address) }

  /// Unlocks a mutex, waits for a signal and locks the mutex again.
  ///
  /// - Parameters:
  ///   - mutex: A mutex that the calling thread has locked.
  ///   - nanoseconds: The maximum duration of the wait. Not negative.
  package func wait(unlocking mutex: borrowing SystemMutex, atMost nanoseconds: Int64) {
    // At most an hour, because some systems cannot represent much later times.
    let nanoseconds = min(nanoseconds, 3_600_000_000_000)
    #if canImport(Darwin)
      var time = timespec(nanoseconds: nanoseconds)
      unsafe _ = pthread_cond_timedwait_relative_np(address, mutex.address, &time)
    #else
      var time = timespec(nanoseconds: MonotonicTime.now + nanoseconds)
      unsafe _ = pthread_cond_timedwait(address, mutex.address, &time)
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
