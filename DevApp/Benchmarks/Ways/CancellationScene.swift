import CompositeOperations
import Foundation
import Synchronization

/// A measurement with many waiting children. One of them fails, or all are cancelled, and the time
/// from there to the outcome is measured.
final class CancellationScene: Sendable {
  enum Cause { case failure, outside }

  private struct Failure: Error {}

  /// An operation that waits until it is cancelled.
  private struct Patient: ComposableOperation {
    let scene: CancellationScene

    func perform(in context: OperationContext) async throws -> UInt64 {
      await CancellationWait().wait(arrivingAt: scene.muster)
      scene.cancelled.wrappingAdd(1, ordering: .relaxed)
      throw CancellationError()
    }
  }

  /// An operation that fails when all others wait.
  private struct Culprit: ComposableOperation {
    let scene: CancellationScene

    func perform(in context: OperationContext) async throws -> UInt64 {
      await scene.muster.untilFull()
      scene.stopwatch.restart()
      throw Failure()
    }
  }

  private let count: Int
  private let cause: Cause
  private let muster: Muster
  private let cancelled = Atomic<UInt64>(0)
  private let stopwatch = Stopwatch()

  private init(count: Int, cause: Cause) {
    self.count = count
    self.cause = cause
    muster = Muster(expecting: cause == .failure ? count - 1 : count)
  }

  /// The operations, with the one to fail in the middle.
  private var operations: [any ComposableOperation<UInt64>] {
    (0..<count).map { index in
      if cause == .failure, index == count / 2 { return Culprit(scene: self) }
      return Patient(scene: self)
    }
  }

  private var sample: Sample {
    Sample(amount: stopwatch.nanoseconds, checksum: cancelled.load(ordering: .relaxed))
  }

  /// Measures a parallel composite.
  static func composite(count: Int, cause: Cause) async throws -> Sample {
    let scene = CancellationScene(count: count, cause: cause)
    let run = ParallelOperation(scene.operations).start()
    if cause == .outside {
      await scene.muster.untilFull()
      scene.stopwatch.restart()
      run.cancel()
    }
    let outcome = await run.outcome
    let sample = scene.sample
    guard outcome.result == nil else { throw BenchmarkError("a result in spite of a cancellation") }
    return sample
  }

  /// Measures Swift's tasks, in a separate task.
  static func tasks<Results: Sendable>(
    count: Int, cause: Cause,
    _ perform:
      @escaping @Sendable ([any ComposableOperation<UInt64>]) async throws -> Results
  ) async throws -> Sample {
    let scene = CancellationScene(count: count, cause: cause)
    let operations = scene.operations
    let task = Task { try await perform(operations) }
    if cause == .outside {
      await scene.muster.untilFull()
      scene.stopwatch.restart()
      task.cancel()
    }
    let result = await task.result
    let sample = scene.sample
    if case .success = result { throw BenchmarkError("a result in spite of a cancellation") }
    return sample
  }

  /// Measures a queue of asynchronous operations that end when they are cancelled.
  static func queue(count: Int) -> Sample {
    let scene = CancellationScene(count: count, cause: .outside)
    let queue = OperationQueue()
    let isFull = DispatchSemaphore(value: 0)
    scene.muster.whenFull { isFull.signal() }
    let operations = (0..<count).map { _ in
      AsynchronousOperation(
        stop: { operation in
          scene.cancelled.wrappingAdd(1, ordering: .relaxed)
          operation.finish()
        }, { _ in scene.muster.arrive() })
    }
    queue.addOperations(operations, waitUntilFinished: false)
    isFull.wait()
    scene.stopwatch.restart()
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    return scene.sample
  }
}
