import CompositeOperations
import CompositeOperationsTestKit
import Dispatch
import Testing

/// Timeouts around bodies that compute without suspending.
@Suite(.timeLimit(.minutes(10))) struct ComputingBodyTests {
  /// The compositions that contain a computing body below a timeout.
  enum Form: CaseIterable, CustomTestStringConvertible {
    case simple, sequence, repetition, retry, parallel, graph, then

    var testDescription: String { "\(self)" }

    /// An operation that ends when it is cancelled.
    var endless: AnyOperation<Int> {
      let body = SimpleOperation<Int> {
        try Computation.runUntilCancelled()
        return 0
      }
      let step = SimpleOperation { 1 }
      let end = ContinuousClock.now + .seconds(60)
      let isOver: @Sendable () -> Bool = {
        if ContinuousClock.now < end { return false }
        Issue.record("\(self) was not cancelled.")
        return true
      }
      switch self {
      case .simple: return AnyOperation(body)
      case .sequence:
        return AnyOperation(
          SequentialOperation(ClosureSequence(history: .none) { _ in isOver() ? nil : step })
            .map { _ in 1 })
      case .repetition: return AnyOperation(step.repeating { _ in isOver() })
      case .retry:
        return AnyOperation(
          SimpleOperation<Int> {
            if isOver() { return 1 }
            throw TestError("again")
          }.retrying(attempts: .max))
      case .parallel: return AnyOperation(ParallelOperation([body]).map { $0[0] })
      case .graph: return AnyOperation(OperationGraph { graph in graph.add(body) })
      case .then: return AnyOperation(step.then { _ in body })
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `T2: a computing body is cancelled when its time has passed`(form: Form) async {
    let limit = Duration.milliseconds(20)
    let outcome = await form.endless.timingOut(after: limit).run()
    #expect((outcome.error as? TimeoutError)?.limit == limit)
    let until = await form.endless.timingOut(until: ContinuousClock.now + limit).run()
    #expect(until.error is TimeoutError)
  }

  @Test(arguments: Form.allCases)
  func `T3: an abandoning timeout does not wait for a computing body`(form: Form) async {
    let outcome = await form.endless.timingOut(after: .milliseconds(20), .abandoning).run()
    #expect(outcome.error is TimeoutError)
  }

  @Test func `T2: a result after the limit is late, even if the body never suspended`() async {
    let discarded = Log<Int>()
    for isCancelledBody in [false, true] {
      let begun = Flag()
      let body = SimpleOperation {
        begun.set()
        Computation.run(until: { Task.isCancelled })
        if isCancelledBody { throw CancellationError() }
        return 7
      }.discarding { discarded.add($0) }
      var limit = Duration.milliseconds(20)
      while !begun.isSet {
        #expect(await body.timingOut(after: limit).run().error is TimeoutError)
        // The time may be over before the body begins.
        limit *= 2
      }
    }
    #expect(discarded.entries == [7])
  }

  @Test func `T2: bodies that occupy every thread of the pool are cancelled in time`() async {
    let body = SimpleOperation<Int> {
      try Computation.runUntilCancelled()
      return 0
    }
    let runs = (0..<(processorCount * 2)).map { _ in
      body.timingOut(after: .milliseconds(20)).start()
    }
    for run in runs { #expect(await run.outcome.error is TimeoutError) }
  }

  @Test func `T2: a timeout on a clock cancels bodies that occupy every thread of the pool`() async
  {
    for mode in [TimeoutMode.waiting, .abandoning] {
      await Computation.alone {
        let clock = ManualClock()
        let begun = Crowd()
        // The last body advances the clock, because no other task has a thread.
        let body = SimpleOperation<Int> {
          begun.enter()
          if begun.now == processorCount { clock.advance(by: .seconds(2)) }
          try Computation.runUntilCancelled()
          return 0
        }
        let runs = (0..<processorCount).map { _ in
          body.timingOut(after: .seconds(2), mode).start(in: OperationEnvironment(clock: clock))
        }
        for run in runs { #expect(await run.outcome.error is TimeoutError, "\(mode)") }
      }
    }
  }

  @Test(arguments: Setting.all)
  func `T2: the limit counts from the beginning, even if the body never suspends`(
    setting: Setting
  ) async throws {
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock)
    for (passed, isTooLate) in [(1, false), (2, true), (3, true)] {
      let body = SimpleOperation {
        clock.advance(by: .seconds(passed))
        return 7
      }
      for mode in [TimeoutMode.waiting, .abandoning] {
        let after = body.timingOut(after: .seconds(2), mode)
        let outcome = try await setting.run { await after.run(in: environment) }
        #expect((outcome.error is TimeoutError) == isTooLate, "\(passed) s, \(mode)")
        let until = body.timingOut(until: clock.now.advanced(by: .seconds(2)), on: clock, mode)
        let other = try await setting.run { await until.run() }
        #expect((other.error is TimeoutError) == isTooLate, "\(passed) s, \(mode)")
      }
    }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `T2: after the deadline no body begins`() async {
    let clock = ManualClock()
    clock.advance(by: .seconds(5))
    let begun = Flag()
    let body = SimpleOperation { begun.set() }.named("body")
    let moment = clock.now.advanced(by: .seconds(-1))
    let error = await body.timingOut(until: moment, on: clock).run().error as? TimeoutError
    #expect(error == TimeoutError(name: "body", limit: .seconds(-1)))
    #expect(await body.timingOut(until: ContinuousClock.now).run().error is TimeoutError)
    #expect(!begun.isSet)
  }

  @Test func `C3: a cancellation handler that blocks delays no other timeout`() async {
    let isOver = DispatchSemaphore(value: 0)
    let isBlocking = Flag()
    let blocks = SimpleOperation<Int> {
      try await withTaskCancellationHandler {
        try await Task.sleep(for: .seconds(1_000_000))
      } onCancel: {
        isBlocking.set()
        if isOver.wait(timeout: .now() + 600) == .timedOut {
          Issue.record("Other timeouts waited for a cancellation handler.")
        }
      }
      return 0
    }
    // If the time is over before the handler is registered, the handler blocks the thread of the
    // body.
    await Computation.alone {
      var first = blocks.timingOut(after: .milliseconds(1)).start()
      var limit = Duration.milliseconds(1)
      while await !isBlocking.isSet(before: first) {
        // The time was over before the body began.
        limit *= 2
        first = blocks.timingOut(after: limit).start()
      }
      for _ in 0..<10 {
        let waits = SimpleOperation { try await Task.sleep(for: .seconds(1_000_000)) }
        #expect(await waits.timingOut(after: .milliseconds(1)).run().error is TimeoutError)
      }
      isOver.signal()
      #expect(await first.outcome.error is TimeoutError)
    }
  }

  @Test func `T2: a deadline cancels only the task of its body`() async {
    let limit = Duration.microseconds(50)
    let sibling = SimpleOperation {
      let end = ContinuousClock.now + .milliseconds(1)
      while ContinuousClock.now < end { await Task.yield() }
      return Task.isCancelled
    }.timingOut(after: .seconds(1_000_000))
    for count in [1, 2, 4, 8, 16, 32] {
      // Their tasks begin after the body has ended. One of them probably reuses the memory of its
      // task.
      let next = ParallelOperation([_](repeating: sibling, count: count))
      await Task {
        for index in 0..<200 {
          // Returns at about the time at which it is cancelled.
          let body = SimpleOperation {
            let end = ContinuousClock.now + limit * (1 + index % 8)
            while ContinuousClock.now < end {}
          }
          _ = await body.timingOut(after: limit).run()
          #expect(await next.run().result?.contains(true) == false)
        }
      }.value
    }
  }

  @Test func `T2: a run does not end while cancellation handlers of its body run`() async {
    for _ in 0..<100 {
      let handlers = Crowd()
      let body = SimpleOperation<Int> {
        await withTaskCancellationHandler {
          Computation.run(until: { Task.isCancelled })
          return 1
        } onCancel: {
          handlers.enter()
          let end = ContinuousClock.now + .microseconds(100)
          while ContinuousClock.now < end {}
          handlers.leave()
        }
      }
      #expect(await body.timingOut(after: .microseconds(100)).run().error is TimeoutError)
      #expect(handlers.now == 0)
    }
  }
}

/// Clocks that fail instead of sleeping.
@Suite(.timeLimit(.minutes(10))) struct FailingClockTests {
  private let environment = OperationEnvironment(clock: FailingClock())
  private let failure = TestError("the clock stopped")

  @Test func `T2: if the clock fails, the body is cancelled and the run ends in the clock's error`()
    async
  {
    for mode in [TimeoutMode.waiting, .abandoning] {
      let discarded = Log<Int>()
      let gate = Gate()
      let body = SimpleOperation {
        gate.open()
        while !Task.isCancelled { await Task.yield() }
        return 7
      }.discarding { discarded.add($0) }
      let clock = FailingClock(after: gate)
      let outcome = await body.timingOut(after: .seconds(1), mode)
        .run(in: OperationEnvironment(clock: clock))
      #expect(outcome.error as? TestError == failure)
      while discarded.count < 1 { await Task.yield() }
    }
  }

  @Test func `T1: if the clock fails, a delayed run ends in the clock's error`() async {
    let begun = Flag()
    let body = SimpleOperation { begun.set() }
    let delayed = await body.delayed(by: .seconds(1)).run(in: environment)
    #expect(delayed.error as? TestError == failure)
    let clock = FailingClock()
    let moment = clock.now.advanced(by: .seconds(1))
    #expect(await body.delayed(until: moment, on: clock).run().error as? TestError == failure)
    #expect(!begun.isSet)
  }

  @Test func `R2: an error of the clock ends the attempts, and is not a cancellation`() async {
    let fails = SimpleOperation<Int> { throw TestError("failed") }
    let outcome = await fails.retrying(attempts: 3, backoff: .constant(.seconds(1)))
      .run(in: environment)
    let error = outcome.error as? RetryError
    #expect(error?.errors.map { "\($0)" } == ["failed", "the clock stopped"])
    #expect(error?.representsCancellation == false)
    let again = SimpleOperation { 1 }.repeating(times: 3, backoff: .constant(.seconds(1)))
    #expect(await again.run(in: environment).error as? TestError == failure)
  }

  @Test func `R2: a clock error that represents a cancellation ends the run as cancelled`() async {
    let environment = OperationEnvironment(clock: FailingClock(CancellationError()))
    let fails = SimpleOperation<Int> { throw TestError("failed") }
    let retrying = fails.retrying(attempts: 3, backoff: .constant(.seconds(1)))
    #expect(await retrying.run(in: environment).isCancelled)
    #expect(await fails.delayed(by: .seconds(1)).run(in: environment).isCancelled)
  }
}

extension Flag {
  /// Waits until the flag is set or a run has ended.
  ///
  /// - Returns: Whether the flag is set.
  fileprivate func isSet(before run: OperationRun<Int>) async -> Bool {
    let hasEnded = Flag()
    Task {
      _ = await run.outcome
      hasEnded.set()
    }
    while !isSet, !hasEnded.isSet { await Task.yield() }
    return isSet
  }
}
