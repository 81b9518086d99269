internal import SystemSupport

/// Calls a blocking function on a new thread, because a test must not block a thread of Swift's
/// tasks.
public func onNewThread<Value: Sendable>(
  _ body: @escaping @Sendable () -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    // `Thread` does not report that the system has refused a thread, so the task waited without end.
    let isStarted = SystemThread.start { continuation.resume(returning: body()) }
    precondition(isStarted, "the system starts no thread")
  }
}
