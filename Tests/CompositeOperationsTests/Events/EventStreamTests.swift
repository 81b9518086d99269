import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
  private let list: some ComposableOperation<[Int]> = ParallelOperation(
    (0..<10).map { number in SimpleOperation { number } }, width: .serial
  ).named("list")

  @Test(arguments: [0, 1, 2, 3] as [UInt64])
  func `V4: a started run returns its events in order, and the end last`(seed: UInt64)
    async throws
  {
    let recorder = RecordingObserver()
    let executor = SeededExecutor(seed: seed)
    let list = list
    let lines = try await executor.run {
      let run = list.start(
        in: OperationEnvironment(observers: [recorder], executor: executor), keepingEvents: 1_000)
      var lines: [String] = []
      let events = run.events
      for await event in events { lines.append(event.short) }
      #expect(events.droppedCount == 0)
      return lines
    }
    #expect(lines == recorder.events.map(\.short))
    #expect(lines.first == "list created" && lines.last?.hasPrefix("list ended: result") == true)
  }

  @Test
  func `V4: a late reader receives the kept events, the end and the number of dropped events`()
    async
  {
    for kept in [1, 5, 41, 1_000] {
      let recorder = RecordingObserver()
      let run = list.start(
        in: OperationEnvironment(observers: [recorder]), keepingEvents: kept)
      _ = await run.outcome
      let all = recorder.events.map(\.short)
      for _ in 0..<2 {
        let events = run.events
        var lines: [String] = []
        for await event in events { lines.append(event.short) }
        #expect(lines == Array(all.suffix(kept)))
        #expect(events.droppedCount == max(0, all.count - kept))
      }
    }
  }

  @Test func `V4: a slow reader loses events, and the run does not wait for it`() async {
    let run = list.start(keepingEvents: 3)
    let events = run.events
    var iterator = events.makeAsyncIterator()
    let first = await iterator.next()
    _ = await run.outcome
    var left: [OperationEvent] = []
    while let event = await iterator.next() { left.append(event) }
    #expect(first != nil && left.count <= 3)
    #expect(left.last?.isEnd == true && left.last?.name == "list")
    // The list has four events of its own: created, started, expected children, ended. Each child
    // adds four: its own three, and the list's event of its start.
    #expect(1 + left.count + events.droppedCount == 4 + 10 * 4)
  }

  @Test func `V4: a run that keeps no events reports its end`() async {
    let run = list.start()
    var events: [OperationEvent] = []
    for await event in run.events { events.append(event) }
    #expect(events.count == 1 && events[0].id == run.id)
    guard case .ended(.result(let value), nil) = events[0].kind else {
      Issue.record("\(events)")
      return
    }
    #expect(value as? [Int] == Array(0..<10))
  }

  @Test func `V4: a cancelled reader stops waiting for events`() async {
    let gate = Gate()
    let run = SimpleOperation { try await gate.pass() }.start(keepingEvents: 10)
    await gate.waitForArrivals(1)
    let reader = Task {
      var count = 0
      for await _ in run.events { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value <= 2)
    gate.open()
    #expect(await run.outcome.result != nil)
  }

  @Test func `V4: a cancelled reader does not wait for a run that keeps no events`() async {
    for cancelsFirst in [false, true] {
      let gate = Gate()
      let run = SimpleOperation { await gate.passIgnoringCancellation() }.start()
      await gate.waitForArrivals(1)
      let reader = Task {
        if cancelsFirst { cancelCurrentTask() }
        var count = 0
        for await _ in run.events { count += 1 }
        return count
      }
      for _ in 0..<100 { await Task.yield() }
      reader.cancel()
      let count = await withLastResort {
        gate.open()
      } _: {
        await reader.value
      }
      #expect(count == 0)
      gate.open()
      #expect(await run.outcome.result != nil)
    }
  }

  @Test func `V4: all readers of a run that keeps no events receive its end, unless cancelled`()
    async
  {
    for round in 0..<200 {
      let gate = Gate()
      let run = SimpleOperation { await gate.passIgnoringCancellation() }.start()
      let readers = (0..<4).map { _ in
        Task {
          var count = 0
          for await event in run.events { count += event.isEnd ? 1 : 100 }
          return count
        }
      }
      for _ in 0..<(round % 20) { await Task.yield() }
      async let opened: Void = gate.open()
      async let cancelled: Void = readers[0].cancel()
      _ = await (opened, cancelled)
      var counts: [Int] = []
      for reader in readers { counts.append(await reader.value) }
      #expect((0...1).contains(counts[0]))
      #expect(counts.dropFirst() == [1, 1, 1])
    }
  }
}
