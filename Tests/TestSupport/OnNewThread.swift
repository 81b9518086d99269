internal import Foundation

/// Calls a blocking function on a new thread, because a test must not block a thread of Swift's
/// tasks.
public func onNewThread<Value: Sendable>(
  _ body: @escaping @Sendable () -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
