import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Workers that yield their thread to other tasks between two children.
@Suite struct TurnTests {
  @Test func `O3: a result from before a yield stays a result`() async {
    // The children suspend, so that their worker no longer runs on the stack of the task that began
    // it.
    let count = 66
    for cancelled in 1..<(2 * count) {
      let made = Log<Int>()
      let children = (0..<count).map { index in
        SimpleOperation {
          await Task.yield()
          if !Task.isCancelled { made.add(index) }
        }
      }
      let composite = ParallelOperation(children, width: .serial)
      let shown = Log<Int>()
      let executor = SeededExecutor(seed: 1)
      let run = SimpleOperation.withContext { context in
        do {
          shown.add(try await composite.perform(in: context).count)
        } catch let error as ParallelOperationError {
          shown.add(error.children.count { $0.outcome.result != nil })
        }
      }.start(in: OperationEnvironment(executor: executor))
      executor.drain { if $0 == cancelled { run.cancel() } }
      _ = await run.outcome
      #expect(shown.entries == [made.entries.count], "cancelled after job \(cancelled)")
    }
  }

  @Test func `P6: children that are made one by one and never suspend yield their thread`() async {
    // Endless composites occupy every thread, until another task has run.
    await Computation.alone {
      for making in Making.allCases {
        let flag = EndFlag()
        let runs = (0..<processorCount).map { _ in making.operation(until: flag).start() }
        await Task { flag.set() }.value
        for run in runs { #expect(await run.outcome.result != nil, "\(making)") }
        #expect(!flag.isOverdue, "\(making) did not yield its thread")
      }
    }
  }

  @Test(arguments: Making.allCases)
  func `P6: children that never suspend yield under a preferred executor`(
    making: Making
  ) async throws {
    // Both begin first in some of the orders.
    for seed in 1...16 as ClosedRange<UInt64> {
      let flag = EndFlag()
      let executor = SeededExecutor(seed: seed)
      let environment = OperationEnvironment(executor: executor)
      let run = making.operation(until: flag).start(in: environment)
      let other = SimpleOperation { flag.set() }.start(in: environment)
      executor.drain()
      _ = await other.outcome
      #expect(await run.outcome.result != nil)
      try #require(!flag.isOverdue, "\(making) did not yield its thread, seed \(seed)")
    }
  }

  /// A way to make endlessly many children that never suspend. One at a time, because workers that
  /// compete for the next child suspend.
  enum Making: CaseIterable, Sendable {
    case sequence, arriving, growing

    func operation(until flag: EndFlag) -> ParallelOperation<Void> {
      let child = SimpleOperation<Int> { 1 }
      switch self {
      case .sequence:
        return ParallelOperation(
          width: .serial, { Endless(child: child, flag: flag) }, consumingResults: { _ in })
      case .arriving:
        return ParallelOperation(
          width: .serial, { Arriving(children: Endless(child: child, flag: flag)) },
          consumingResults: { _ in })
      case .growing:
        return ParallelOperation(
          growing: [Growing(flag: flag)], width: .serial, consumingResults: { _ in })
      }
    }
  }

  private struct Endless: Sequence, IteratorProtocol {
    let child: SimpleOperation<Int>
    let flag: EndFlag

    func next() -> SimpleOperation<Int>? { flag.isSet ? nil : child }
  }

  private struct Arriving: AsyncSequence, AsyncIteratorProtocol {
    var children: Endless

    func makeAsyncIterator() -> Arriving { self }

    func next(isolation: isolated (any Actor)?) async -> SimpleOperation<Int>? { children.next() }
  }

  private struct Growing: ComposableOperation {
    let flag: EndFlag

    func perform(in context: OperationContext) throws -> Int {
      if !flag.isSet { try context.add(self) }
      return 1
    }
  }
}

/// Ends an endless composite: when it is set, or after a minute.
final class EndFlag: Sendable {
  private let flag = Flag()
  private let overdue = Flag()
  private let end = ContinuousClock.now + .seconds(60)

  /// Whether the minute ended before the flag was set.
  var isOverdue: Bool { overdue.isSet }

  func set() { flag.set() }

  var isSet: Bool {
    if flag.isSet { return true }
    if ContinuousClock.now < end { return false }
    overdue.set()
    return true
  }
}
