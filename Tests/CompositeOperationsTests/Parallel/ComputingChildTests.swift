import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import Testing

/// Children that compute without suspending, beside other children that can run concurrently.
@Suite(.timeLimit(.minutes(10))) struct ComputingChildTests {
  /// The compositions that run two operations concurrently.
  enum Form: CaseIterable, CustomTestStringConvertible {
    case uniform, mixed, limited, pack, race, madeLazily, arriving, growing, consumed, graph, nested

    var testDescription: String { "\(self)" }

    func callAsFunction(
      _ first: SimpleOperation<Int>, _ second: SimpleOperation<Int>,
      onFailure mode: FailureMode = .cancelRemaining
    ) -> AnyOperation<[Int]> {
      let both = [first, second]
      switch self {
      case .uniform: return AnyOperation(ParallelOperation(both, onFailure: mode))
      case .mixed:
        let any: [any ComposableOperation<Int>] = [first.named("first"), second]
        return AnyOperation(ParallelOperation(any, onFailure: mode))
      case .limited:
        return AnyOperation(ParallelOperation(both, width: .limited(to: 2), onFailure: mode))
      case .pack:
        return AnyOperation(
          ParallelOperation(first, second, onFailure: mode).map { one, two in [one, two] })
      case .race: return AnyOperation(RaceOperation(both).map { [$0] })
      case .madeLazily: return AnyOperation(ParallelOperation(onFailure: mode) { both.lazy })
      case .arriving:
        return AnyOperation(
          ParallelOperation(onFailure: mode) {
            AsyncStream { stream in
              for operation in both { stream.yield(operation) }
              stream.finish()
            }
          })
      case .growing:
        return AnyOperation(ParallelOperation(growing: both, onFailure: mode))
      case .consumed:
        return AnyOperation(
          ParallelOperation(onFailure: mode) {
            both.lazy
          } consumingResults: { _ in
          }.map { [] })
      case .graph:
        return AnyOperation(
          OperationGraph(onFailure: mode) { graph in
            let (one, two) = (graph.add(first), graph.add(second))
            return graph.add(needing: one, two) { one, two in SimpleOperation { [one, two] } }
          })
      case .nested:
        let inner = ParallelOperation([first]).map { $0[0] }
        return AnyOperation(
          ParallelOperation([AnyOperation(inner), AnyOperation(second)], onFailure: mode))
      }
    }
  }

  /// Runs light operations in the same form, so that the hints of the engine classify them as
  /// light.
  private func runLightOnes(_ form: Form) async {
    for _ in 0..<200 {
      _ = await form(SimpleOperation { 1 }, SimpleOperation { 2 }).run()
    }
  }

  @Test(.enabled(if: processorCount > 1), arguments: Form.allCases)
  func `P6: a computing child does not keep another child from beginning`(form: Form) async {
    await Computation.alone {
      await runLightOnes(form)
      let hasBegun = Flag()
      let computes = SimpleOperation<Int> {
        Computation.run(until: { hasBegun.isSet || Task.isCancelled })
        return 1
      }
      let begins = SimpleOperation<Int> {
        hasBegun.set()
        return 2
      }
      let outcome = await form(computes, begins).run()
      switch form {
      case .consumed: #expect(outcome.result == [])
      case .race: #expect(outcome.result?.count == 1)
      default: #expect(outcome.result == [1, 2])
      }
    }
  }

  @Test(
    .enabled(if: processorCount > 1), arguments: Form.allCases.filter { $0 != .race })
  func `P3: a failure cancels a computing child that began before`(form: Form) async {
    await Computation.alone {
      await runLightOnes(form)
      let computes = SimpleOperation<Int> {
        try Computation.runUntilCancelled()
        return 0
      }
      let run = form(computes, SimpleOperation<Int> { throw TestError("failed") }).start()
      #expect(await run.outcome.error != nil)
    }
  }

  @Test(.enabled(if: processorCount > 1), arguments: Form.allCases)
  func `O3: a cancellation reaches all children while they compute`(form: Form) async {
    await Computation.alone {
      await runLightOnes(form)
      let begun = Crowd()
      let child = SimpleOperation<Int> {
        begun.enter()
        try Computation.runUntilCancelled()
        return 0
      }
      let run = form(child, child).start()
      // On a thread of its own, because the children may occupy every thread of the pool.
      await withCheckedContinuation { ended in
        Thread.detachNewThread {
          Computation.run(until: { begun.now == 2 })
          run.cancel()
          ended.resume()
        }
      }
      #expect(await run.outcome.isCancelled)
    }
  }

  @Test(.enabled(if: processorCount > 1), arguments: Form.allCases)
  func `C2: task-local values and priority reach a child that begins beside a computing child`(
    form: Form
  ) async {
    await Computation.alone {
      await runLightOnes(form)
      let seen = Log<String>()
      let first = SimpleOperation {
        Computation.run(until: { seen.count > 0 || Task.isCancelled })
        return 1
      }
      let second = SimpleOperation {
        seen.add("\(Local.name) \(Task.currentPriority == .high)")
        return 2
      }
      let operation = form(first, second)
      await Task(priority: .high) {
        _ = await Local.$name.withValue("here") { await operation.run() }
      }.value
      #expect(seen.entries == ["here true"])
    }
  }

  @Test(.enabled(if: processorCount > 1))
  func `P3: a failure cancels waiting children while another child computes`() async {
    await Computation.alone {
      let isCancelled = Gate()
      let waiting = Crowd()
      let waits = SimpleOperation<Int> {
        waiting.enter()
        try? await Task.sleep(for: .seconds(1_000_000))
        waiting.leave()
        if waiting.now == 0 { isCancelled.open() }
        throw CancellationError()
      }
      // Ignores its cancellation until the cancellation of the others has ended them.
      let computes = SimpleOperation<Int> {
        Computation.run(until: { waiting.most == 2 && waiting.now == 0 })
        return 1
      }
      let fails = SimpleOperation<Int> { throw TestError("failed") }
      let outcome = await ParallelOperation([waits, waits, computes, fails]).run()
      #expect((outcome.error as? ParallelOperationError)?.failures.map(\.index) == [3])
    }
  }

  @Test(.enabled(if: processorCount > 1))
  func `P3: a failure below a standby worker cancels the others, even if a sibling does not end`()
    async
  {
    await Computation.alone {
      await runLightOnes(.uniform)
      let isCancelled = Gate()
      let waits = SimpleOperation<Int> {
        try? await Task.sleep(for: .seconds(1_000_000))
        isCancelled.open()
        throw CancellationError()
      }
      let computes = SimpleOperation<Int> {
        Computation.run(until: { Task.isCancelled })
        return 1
      }
      // Begins beside the computing child, and does not end before the first one is cancelled.
      let ignores = SimpleOperation<Int> {
        await isCancelled.passIgnoringCancellation()
        return 1
      }
      let fails = SimpleOperation<Int> { throw TestError("failed") }
      let outcome = await ParallelOperation([waits, computes, ignores, fails]).run()
      #expect((outcome.error as? ParallelOperationError)?.failures.map(\.index) == [3])
    }
  }

  @Test(.enabled(if: processorCount > 1))
  func `P6: as many children compute at once as there are processors`() async {
    await Computation.alone {
      for count in [processorCount, processorCount + 5] {
        let begun = Crowd()
        let children = (0..<count).map { index in
          SimpleOperation {
            begun.enter()
            Computation.run(until: { begun.most >= processorCount })
            return index
          }
        }
        #expect(await ParallelOperation(children).run().result == Array(0..<count))
        let lazy = ParallelOperation { children.lazy }
        #expect(await lazy.run().result == Array(0..<count))
      }
    }
  }

  @Test func `S8: loops of operations that never suspend yield to other tasks`() async {
    // Endless loops of every kind occupy every thread, until another task has run.
    await Computation.alone {
      for loop in Loop.allCases {
        let isOver = Flag()
        let runs = (0..<processorCount).map { _ in loop.operation(until: isOver).start() }
        await Task { isOver.set() }.value
        for run in runs { #expect(await run.outcome.result != nil, "\(loop)") }
      }
    }
  }

  /// Loops of operations that never suspend.
  private enum Loop: CaseIterable {
    case sequence, repetition, retry, fallback

    func operation(until isOver: Flag) -> AnyOperation<Int> {
      let step = SimpleOperation { isOver.isSet ? 1 : 0 }
      let end = ContinuousClock.now + .seconds(60)
      let isLast: @Sendable (Int) -> Bool = { value in
        if ContinuousClock.now < end { return value == 1 }
        Issue.record("\(self) did not yield its thread within 60 s.")
        return true
      }
      switch self {
      case .sequence:
        return AnyOperation(
          SequentialOperation(
            ClosureSequence(history: .last(1)) { previous in
              previous?.result(as: Int.self).map(isLast) == true ? nil : step
            }
          ).map { $0.last?.result(as: Int.self) ?? 0 })
      case .repetition: return AnyOperation(step.repeating { isLast($0) })
      case .retry:
        return AnyOperation(
          step.map { value in
            if isLast(value) { return value }
            throw TestError("again")
          }.retrying(attempts: .max))
      case .fallback:
        let failing = step.map { value in
          if isLast(value) { return value }
          let end = ContinuousClock.now + .microseconds(50)
          Computation.run(until: { ContinuousClock.now >= end })
          throw TestError("again")
        }
        // Without yielding, these end after 10 s, and the run fails.
        let others = Array(repeating: failing, count: 200_000)
        return AnyOperation(failing.fallingBack(toEachOf: others))
      }
    }
  }

  private enum Local {
    @TaskLocal static var name = ""
  }
}
