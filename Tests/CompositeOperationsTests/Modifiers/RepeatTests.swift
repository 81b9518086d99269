import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct RepeatTests {
  /// Returns an operation that returns the number of its run, from 1.
  private static func counting(
    _ count: Log<Int>, in setting: Setting? = nil
  ) -> SimpleOperation<Int> {
    SimpleOperation {
      count.add(0)
      await setting?.pause()
      return count.count
    }
  }

  @Test(arguments: Setting.all)
  func `R4: an operation repeats until a result is accepted or the count is reached`(
    setting: Setting
  ) async throws {
    func counting() -> SimpleOperation<Int> { Self.counting(Log(), in: setting) }
    let operations: [(any ComposableOperation<Int>, last: Int)] = [
      (counting().repeating { $0 == 4 }, 4), (counting().repeating(times: 3) { $0 == 4 }, 3),
      (counting().repeating(times: 1), 1), (counting().repeating(times: 5), 5),
    ]
    for (operation, last) in operations {
      #expect(try await setting.run { await operation.run() }.result == last)
    }
    await #expect(processExitsWith: .failure) {
      _ = SimpleOperation { 1 }.repeating(times: 0)
    }
  }

  @Test func `R4: an error and a cancellation end the repetition`() async {
    let count = Log<Int>()
    let failing = Self.counting(count).map { number -> Int in
      if number == 2 { throw TestError("second") }
      return number
    }
    #expect(await failing.repeating(times: 5).run().kind == "error second")
    let stopping = Self.counting(count).map { _ -> Int in throw CancellationError() }
    #expect(await stopping.repeating(times: 5).run().isCancelled)
    #expect(count.count == 3)
  }

  @Test func `R4: no run is created after a cancellation`() async {
    for backoff in [Backoff.none, .constant(.seconds(1))] {
      let recorder = RecordingObserver()
      let operation = SimpleOperation { 7 }.named("fetch").repeating(backoff: backoff) { _ in
        cancelCurrentTask()
        return false
      }.named("all")
      let environment = OperationEnvironment(clock: ManualClock(), observers: [recorder])
      #expect(await operation.start(in: environment).outcome.isCancelled)
      #expect(recorder.events(of: "fetch").count == 3)
    }
  }

  @Test func `R4: a cancellation ends the wait between two runs immediately`() async {
    let clock = ManualClock()
    let count = Log<Int>()
    let run = Self.counting(count)
      .repeating(backoff: .linear(from: .seconds(1))) { _ in false }
      .start(in: OperationEnvironment(clock: clock))
    for seconds in 1...3 {
      await clock.waitForSleepers(1)
      #expect(count.count == seconds)
      #expect(clock.nextDeadline?.offset == clock.now.offset + .seconds(seconds))
      clock.advance(by: .seconds(seconds))
    }
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(count.count == 4)
  }

  @Test func `R4: results before the last one are discarded once each`() async {
    let discarded = Log<Int>()
    let operation = Self.counting(Log()).discarding { discarded.add($0) }.repeating(times: 4)
    #expect(await operation.run().result == 4)
    #expect(discarded.entries == [1, 2, 3])
  }
}
