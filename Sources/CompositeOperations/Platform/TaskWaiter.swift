/// A task that waits to be resumed, once.
///
/// A checked continuation in debug builds. In others it is an unsafe one, because a state that may hold a checked
/// continuation takes far longer to make, copy and free, whether it holds one or not.
@safe struct TaskWaiter: Sendable {
  #if DEBUG
    private let continuation: CheckedContinuation<Void, Never>
  #else
    private let continuation: UnsafeContinuation<Void, Never>
  #endif

  /// Suspends the current task until its waiter is resumed.
  ///
  /// - Parameter body: Called at once. It must have the waiter resumed exactly once, on any thread.
  static nonisolated(nonsending) func wait(_ body: (TaskWaiter) -> Void) async {
    #if DEBUG
      await withCheckedContinuation { body(TaskWaiter(continuation: $0)) }
    #else
      await unsafe withUnsafeContinuation { body(unsafe TaskWaiter(continuation: $0)) }
    #endif
  }

  func resume() {
    #if DEBUG
      continuation.resume()
    #else
      unsafe continuation.resume()
    #endif
  }
}
