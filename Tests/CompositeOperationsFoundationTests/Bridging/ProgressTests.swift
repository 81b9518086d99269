import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
  @Test func `a Progress is indeterminate, then counts thousandths, then is finished`() async {
    let progress = Progress(totalUnitCount: -1)
    let observer = ProgressObserver(updating: progress)
    #expect(progress.isIndeterminate)
    let seen = Lock<[String]>([])
    let list = ParallelOperation(
      (0..<4).map { _ in
        SimpleOperation {
          let now = "\(progress.completedUnitCount) of \(progress.totalUnitCount)"
          seen.withLock { $0.append(now) }
        }
      }, width: .serial)
    _ = await list.observed(by: observer).run()
    #expect(seen.withLock { $0 } == [0, 250, 500, 750].map { "\($0) of 1000" })
    #expect(progress.completedUnitCount == 1_000)
    #expect(progress.isFinished)
  }

  @Test func `a Progress has the units that the run reports`() async {
    let progress = Progress(totalUnitCount: -1)
    let operation = SimpleOperation.withContext { context in
      context.report(3, of: 12, unit: "files")
      return "\(progress.completedUnitCount) of \(progress.totalUnitCount)"
    }
    let outcome = await operation.observed(by: ProgressObserver(updating: progress)).run()
    #expect(outcome.result == "3 of 12")
    #expect(progress.completedUnitCount == 12)
    #expect(progress.isFinished)
  }

  @Test func `a run that reports no progress is indeterminate until it has ended`() async {
    let progress = Progress(totalUnitCount: -1)
    let operation = SimpleOperation { progress.isIndeterminate }
    let outcome = await operation.observed(by: ProgressObserver(updating: progress)).run()
    #expect(outcome.result == true)
    #expect(progress.fractionCompleted == 1)
  }

  @Test func `a Progress can cancel a run`() async {
    let progress = Progress(totalUnitCount: -1)
    let gate = Gate()
    let run = SimpleOperation<Void> { try await gate.pass() }
      .start(in: OperationEnvironment(observers: [ProgressObserver(updating: progress)]))
    progress.cancellationHandler = { run.cancel() }
    progress.cancel()
    #expect(await run.outcome.isCancelled)
  }
}
