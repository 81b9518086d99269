import CompositeOperations
import CompositeOperationsTestKit
import Dispatch
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct CancellationReportTests {
  /// Compositions with a run named "body", created from a body.
  private static let shapes:
    [(name: String, operation: @Sendable (SimpleOperation<Void>) -> any ComposableOperation)] = [
      ("outermost", { $0.named("body") }),
      (
        "child",
        { body in
          SimpleOperation.withContext { context in _ = await context.outcome(of: body.named("body"))
          }
        }
      ),
      ("child of a list", { ParallelOperation([$0.named("body")]) }),
      ("child of a mixed list", { ParallelOperation($0.named("body"), SimpleOperation {}) }),
      ("child of a source", { body in ParallelOperation { [body.named("body")] } }),
      ("step", { SequentialOperation(.linear([$0.named("body")])) }),
      ("attempt", { $0.named("body").retrying(attempts: 2).named("retrying") }),
      ("hedged attempt", { $0.named("body").hedged(after: .seconds(600)).named("hedged") }),
      ("raised", { ParallelOperation([$0.named("body").prioritized(at: .high)]) }),
      ("observed below", { $0.named("body").onEnd { _ in }.named("outer") }),
    ]

  @Test(arguments: shapes.map(\.name))
  func `O2: a run that an observer cancels at its start does not begin its body`(
    shape: String
  ) async throws {
    let operation = try #require(Self.shapes.first { $0.name == shape }).operation
    for seed in 0..<4 as Range<UInt64> {
      let began = Flag()
      let canceller = Canceller()
      let executor = SeededExecutor(seed: seed)
      let run = operation(SimpleOperation { began.set() }).begin(
        in: OperationEnvironment(observers: [canceller], executor: executor))
      canceller.cancel.add(run.cancel)
      executor.drain()
      #expect(await run.isCancelled())
      #expect(!began.isSet)
      #expect(canceller.log.entries == ["started", "asked", "ended"])
      canceller.cancel.clear()
    }
  }

  @Test(arguments: shapes.map(\.name))
  func `O6: a slow observer of a cancellation by the handle blocks no task`(shape: String)
    async throws
  {
    let operation = try #require(Self.shapes.first { $0.name == shape }).operation
    let gate = Gate()
    let observer = WaitingObserver()
    let body = SimpleOperation {
      await gate.passIgnoringCancellation()
      // The observer has not returned yet.
      observer.goOn.signal()
    }
    let run = operation(body).begin(in: OperationEnvironment(observers: [observer]))
    await gate.waitForArrivals(1)
    Thread.detachNewThread { run.cancel() }
    await observer.isNotified.passIgnoringCancellation()
    gate.open()
    #expect(await run.isCancelled())
    #expect(observer.log.entries == ["asked", "continued", "ended"])
  }
}

/// Cancels a run when it is notified of the start of its body.
private final class Canceller: OperationObserver {
  let cancel = Log<@Sendable () -> Void>()
  let log = Log<String>()

  func observe(_ event: OperationEvent) {
    guard event.name == "body" else { return }
    switch event.kind {
    case .started:
      log.add("started")
      cancel.entries.first?()
    case .cancellationRequested: log.add("asked")
    case .ended: log.add("ended")
    case .created, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
      .childrenExpected, .attributesSet, .logged, .finishedAgain, .abandonedBodyEnded:
      break
    }
  }
}

/// Blocks in the notification of a cancellation until the body of the cancelled run continues.
private final class WaitingObserver: OperationObserver {
  let log = Log<String>()
  let isNotified = Gate()
  let goOn = DispatchSemaphore(value: 0)

  func observe(_ event: OperationEvent) {
    guard event.name == "body" else { return }
    switch event.kind {
    case .cancellationRequested:
      log.add("asked")
      isNotified.open()
      let isOver = goOn.wait(timeout: .now() + 600) == .success
      log.add(isOver ? "continued" : "timed out")
    case .ended: log.add("ended")
    case .created, .started, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled,
      .progressed,
      .childrenExpected, .attributesSet, .logged, .finishedAgain, .abandonedBodyEnded:
      break
    }
  }
}

/// A run of any type.
private struct AnyRun: Sendable {
  let cancel: @Sendable () -> Void
  let isCancelled: @Sendable () async -> Bool
}

extension ComposableOperation {
  fileprivate func begin(in environment: OperationEnvironment) -> AnyRun {
    let run = start(in: environment)
    return AnyRun(cancel: { run.cancel() }, isCancelled: { await run.outcome.isCancelled })
  }
}
