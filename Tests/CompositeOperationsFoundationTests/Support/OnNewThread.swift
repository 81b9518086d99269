import Foundation

/// Calls a function that blocks on a thread of its own, as a test must not keep those of Swift's tasks waiting.
func onNewThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
