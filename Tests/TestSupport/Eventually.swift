internal import CompositeOperations
internal import Foundation

/// Waits until a condition is met. A thread of its own polls it every millisecond.
///
/// - Throws: `CancellationError` as soon as the task is cancelled, such as by the time limit of a test.
public func eventually(_ condition: @escaping @Sendable () -> Bool) async throws {
  let isCancelled = Lock(false)
  await withTaskCancellationHandler {
    await onNewThread { while !condition(), !isCancelled.withLock({ $0 }) { usleep(1_000) } }
  } onCancel: {
    isCancelled.withLock { $0 = true }
  }
  try Task.checkCancellation()
}
