internal import SystemSupport

/// Calls a blocking function on a new thread, because a test must not block a thread of Swift's
/// tasks.
public func onNewThread<Value: Sendable>(
  _ body: @escaping @Sendable () -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    // Foundation does not report that the system starts no thread, and the task would wait for ever.
    let isStarted = SystemThread.start { continuation.resume(returning: body()) }
    precondition(isStarted, "the system starts no thread")
  }
}
