#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The signal that ends a program which writes to a pipe that nobody reads any more.
enum BrokenPipeSignal {
  /// Calls a function that may be sent it, which then sees the error of `write` alone.
  static func held<Value>(during body: () -> Value) -> Value {
    #if canImport(Darwin)
      // Files are told beforehand: see `PartialFile`.
      return body()
    #else
      // It is sent to the thread that writes, so to hold it up on this one is enough.
      var signals = sigset_t()
      var (pending, others) = (sigset_t(), sigset_t())
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe sigpending(&pending)
      let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
      unsafe pthread_sigmask(SIG_BLOCK, &signals, &others)
      let value = body()
      if !wasPending {
        var noTime = timespec()
        while unsafe sigtimedwait(&signals, nil, &noTime) < 0, errno == EINTR {}
      }
      unsafe pthread_sigmask(SIG_SETMASK, &others, nil)
      return value
    #endif
  }
}
