/// A suspended task, which must be resumed exactly once.
///
/// It is a checked continuation in debug builds, and an unsafe one in release builds: a state that
/// can hold a checked continuation takes far longer to create, copy and free, even while empty.
@safe struct TaskWaiter: Sendable {
  #if DEBUG
    private let continuation: CheckedContinuation<Void, Never>
  #else
    private let continuation: UnsafeContinuation<Void, Never>
  #endif

  /// Suspends the current task until its waiter is resumed.
  ///
  /// - Parameter body: Called immediately. It must ensure that the waiter is resumed exactly once,
  ///   on any thread.
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
