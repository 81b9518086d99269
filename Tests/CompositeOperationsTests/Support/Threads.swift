#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// ThreadBodys a function on a thread that is none of Swift's pool, and waits for its end.
func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { waiter in
    let call: @Sendable () -> Void = {
      body()
      waiter.resume()
    }
    let argument = unsafe Unmanaged.passRetained(ThreadBody(call)).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
      unsafe pthread_create(
        &thread, nil,
        { argument in
          unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
          return nil
        }, argument)
    #else
      var thread = pthread_t()
      unsafe pthread_create(
        &thread, nil,
        { argument in
          if let argument = unsafe argument {
            unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
          }
          return nil
        }, argument)
    #endif
    pthread_detach(thread)
  }
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
