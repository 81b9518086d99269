import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

#if os(Linux)
  import Glibc
#endif

@Suite(.disabled(if: Scale.isSanitized, "Sanitizers need growing memory themselves."))
struct MemoryTests {
  // Each test runs in a separate process, in which nothing else allocates memory.
  #if os(Linux)
    @Test func `S5: a million steps use constant memory`() async {
      await #expect(processExitsWith: .success) {
        await expectNoGrowth(of: "a step") { count in
          let steps = SequentialOperation(
            ClosureSequence(state: count, history: .last(1)) { left, _ in
              left -= 1
              return left >= 0 ? SimpleOperation { 1 } : nil
            })
          #expect(await steps.run().result?.count == 1)
          let unkept = SequentialOperation(
            ClosureSequence(state: count, history: .none) { left, _ in
              left -= 1
              return left >= 0 ? SimpleOperation { 1 } : nil
            })
          #expect(await unkept.run().result?.isEmpty == true)
        }
      }
    }

    @Test func `S5: a million steps that fail use constant memory`() async {
      await #expect(processExitsWith: .success) {
        await expectNoGrowth(of: "a failed step") { count in
          let steps = SequentialOperation(
            ClosureSequence(state: count, history: .last(2)) { left, _ in
              left -= 1
              return left >= 0 ? SimpleOperation<Int> { throw TestError("failed") } : nil
            })
          #expect((await steps.run().error as? SequentialOperationError)?.steps.count == 2)
        }
      }
    }

    @Test func `P6: a million children created lazily use constant memory`() async {
      await #expect(processExitsWith: .success) {
        await expectNoGrowth(of: "a child") { count in
          let consumed = Crowd()
          let children = ParallelOperation {
            (0..<count).lazy.map { index in
              SimpleOperation {
                if index.isMultiple(of: 1_000) { await Task.yield() }
                return index
              }
            }
          } consumingResults: { _ in
            consumed.enter()
          }
          #expect(await children.run().result != nil)
          #expect(consumed.most == count)
        }
      }
    }

    @Test func `W9: a million operations of a pool use constant memory`() async {
      await #expect(processExitsWith: .success) {
        let pools = [
          OperationPool(width: .limited(to: 4), capacity: 1_000),
          OperationPool(width: .limited(to: 4), capacity: 1_000, overflow: .refuse),
          OperationPool(width: .limited(to: 4), capacity: 1_000, overflow: .dropOldest),
        ]
        await expectNoGrowth(
          of: "an operation of a pool", after: 100_000, within: 8_000_000
        ) { count in
          for pool in pools {
            await withDiscardingTaskGroup { group in
              for _ in 0..<8 {
                group.addTask {
                  for _ in 0..<(count / 16) { await pool.submit(SimpleOperation {}) }
                }
              }
            }
            await pool.drain()
          }
        }
      }
    }

    @Test func `T2: timeouts that are not reached keep no memory`() async {
      await #expect(processExitsWith: .success) {
        let waits = SimpleOperation { await Task.yield() }
        let limited = [
          AnyOperation(waits.timingOut(after: .seconds(1_000_000))),
          AnyOperation(waits.timingOut(after: .seconds(1_000_000), .abandoning)),
          AnyOperation(SimpleOperation {}.timingOut(after: .seconds(1_000_000))),
        ]
        await expectNoGrowth(of: "a timeout") { count in
          for _ in 0..<(count / 8) {
            for operation in limited { #expect(await operation.run().result != nil) }
          }
        }
      }
    }

    @Test(arguments: 0..<4)
    func `T1: cancelled waits keep no memory`(kind: Int) async {
      await #expect(processExitsWith: .success) { [kind = kind as Int] in
        let body = SimpleOperation {}
        let long = Duration.seconds(1_000_000)
        // One error for all runs, because Swift Testing keeps a part of each new one.
        let failure: any Error = TestError("failed")
        let wait =
          switch kind {
          case 0: AnyOperation(body.delayed(by: long))
          case 1: AnyOperation(body.delayed(until: ContinuousClock.now + long))
          case 2: AnyOperation(body.repeating(times: 2, backoff: .constant(long)))
          default:
            AnyOperation(
              SimpleOperation<Void> { throw failure }
                .retrying(attempts: 2, backoff: .constant(long)))
          }
        // Ends the race when the other contender waits.
        let ends = AnyOperation(SimpleOperation { for _ in 0..<5 { await Task.yield() } })
        // Swift Testing keeps a part of each `CancellationError`, too. A leaked wait takes 500 bytes
        // or more.
        await expectNoGrowth(of: "a cancelled wait", within: manyTimes / 20 * 250) { count in
          for _ in 0..<(count / 20) {
            #expect(await RaceOperation([wait, ends]).run().result != nil)
          }
        }
      }
    }

    @Test func `H1: a million shared runs use constant memory`() async {
      await #expect(processExitsWith: .success) {
        let runs = SharedRuns<Int, Int>()
        await expectNoGrowth(of: "a shared run") { count in
          for key in 0..<(count / 4) {
            _ = await SimpleOperation { key }.shared(in: runs, for: key).run()
          }
        }
      }
    }

    @Test(arguments: TraceFormat.allCases)
    func `a million runs are written to a file in constant memory`(format: TraceFormat)
      async
    {
      await #expect(processExitsWith: .success) { [isChrome = (format == .chrome) as Bool] in
        let target = TemporaryFile(".trace")
        let file = try TraceFile(target.path, format: isChrome ? .chrome : .openTelemetry)
        await expectNoGrowth(of: "a run in a file") { count in
          let steps = SimpleOperation { 1 }.repeating(times: count)
          #expect(await steps.observed(by: file).run().result == 1)
        }
        try file.close()
        #expect(try target.size > 20_000_000)
      }
    }

    @Test func `a million runs are counted in constant memory`() async {
      await #expect(processExitsWith: .success) {
        let counters = OperationCounters()
        await expectNoGrowth(of: "a counted run") { count in
          let steps = SimpleOperation { 1 }.repeating(times: count)
          #expect(await steps.observed(by: counters).run().result == 1)
        }
        #expect(counters.total.ended > 200_000)
      }
    }

    @Test func `P1: a million children in a list use memory for their results and one byte each`()
      async
    {
      await #expect(processExitsWith: .success) {
        let children = (0..<1_000_000).map { index in Numbered(index: index) }
        let before = residentBytes()
        let outcome = await ParallelOperation(children).run()
        let growth = residentBytes() - before
        #expect(outcome.result?.last == 999_999)
        // The results, once in the slots and once in the array, and one state for each.
        #expect(growth < 1_000_000 * 20, "\(growth) bytes")
      }
    }
  #endif
}

private struct Numbered: ComposableOperation {
  let index: Int
  func perform(in context: OperationContext) -> Int { index }
}

#if os(Linux)
  #if DEBUG
    private let manyTimes = 200_000
  #else
    private let manyTimes = 1_000_000
  #endif

  /// Runs a closure some times and then a million times, and expects that the second run does not
  /// need more memory than the first one. If it does, expects that a run of three million times
  /// does not need more than the second one.
  ///
  /// - Parameter limit: The number of bytes that does not count as growth. Must be higher if the
  ///   number of concurrent waits is random.
  private func expectNoGrowth(
    of thing: String, after first: Int = 10_000, within limit: Int = 1_000_000,
    _ run: (Int) async -> Void
  ) async {
    await run(first)
    var growth = 0
    // The arena of malloc for one more thread is as large as the limit, but grows only once.
    for count in [manyTimes, 3 * manyTimes] {
      let before = peakBytes()
      await run(count)
      growth = peakBytes() - before
      if growth < limit { break }
    }
    #expect(growth < limit, "\(thing) takes \(Double(growth) / Double(2 * manyTimes)) bytes")
  }

  private func status(_ field: String) -> Int {
    guard let file = unsafe fopen("/proc/self/status", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      if text.hasPrefix(field) {
        return (Int(text.filter(\.isNumber)) ?? 0) * 1_024
      }
    }
    return 0
  }

  private func residentBytes() -> Int { status("VmRSS") }
  private func peakBytes() -> Int { status("VmHWM") }
#endif
