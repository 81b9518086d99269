import CompositeOperations
import OperationTracing
import Testing

@Suite struct TraceSummaryTests {
  /// A flow whose second step takes longest in its second attempt, beside a quick step.
  private static let flow: OperationTrace = {
    var made = HandMadeTrace()
    let sync = made.add("sync", 10, to: 110)
    made.add("user", below: sync, 10, to: 30)
    let all = made.add("all", below: sync, 32, to: 105)
    made.add("quick", below: all, 32, to: 42, lane: 1)
    let tried = made.add("tried", below: all, 32, to: 100)
    made.add("call", below: tried, 32, to: 52, .error("HTTP 500"))
    made.add(
      "call", below: tried, 62, start: 64, to: 100, attempt: 2,
      waits: [(.permits(["connections"]), 66, 76), (.rate, 70, 80)])
    made.add(
      "late", below: all, 42, start: -1, to: 62, .cancelled(reason: "enough"), lane: 1,
      waits: [(.place, 42, 62)])
    return made.trace
  }()

  @Test func `a summary counts the runs by outcome`() {
    let summary = Self.flow.summary
    #expect(summary.runCount == 8 && summary.leafCount == 5)
    #expect(summary.resultCount == 6 && summary.errorCount == 1)
    #expect(summary.cancelledCount == 1 && summary.unfinishedCount == 0)
    #expect(summary.retryCount == 1)
  }

  @Test func `the busy time counts running leaves without their waits, even if these overlap`() {
    let summary = Self.flow.summary
    #expect(summary.wallTime == .milliseconds(100))
    // 20 of user, 10 of quick, 20 of the first call, and 22 of the second call: 38 less 2 before
    // its start and 14 of waits.
    #expect(summary.busyTime == .milliseconds(20 + 10 + 20 + 22))
    #expect(summary.waitTime == .milliseconds(16 + 20))
  }

  @Test func `the critical path goes from the end to the run that ended last before`() {
    let path = Self.flow.summary.criticalPath
    #expect(
      path.map { "\($0.name) \($0.began / .milliseconds(1))-\($0.ended / .milliseconds(1))" } == [
        "user 10.0-30.0", "sync 30.0-32.0", "call 32.0-52.0", "tried 52.0-62.0", "call 62.0-100.0",
        "all 100.0-105.0", "sync 105.0-110.0",
      ])
    #expect(path[4].attempt == 2 && path[4].waited == .milliseconds(16))
    #expect(path.reduce(.zero) { $0 + $1.duration } == .milliseconds(100))
  }

  @Test
  func `the path covers the outermost run that ended last or has not ended`() {
    var made = HandMadeTrace()
    made.add("first", 0, to: 10)
    made.add("second", 5, to: 9, lane: 1)
    #expect(made.trace.summary.criticalPath.map(\.name) == ["first"])
    let open = made.add("open", 6, to: nil, lane: 2)
    made.add("below", below: open, 7, to: nil, lane: 2)
    #expect(made.trace.summary.criticalPath.map(\.name) == ["open", "below"])
    #expect(made.trace.summary.unfinishedCount == 2)
  }

  @Test func `a run that ends after its parent is not on the path`() {
    var made = HandMadeTrace()
    let limited = made.add("limited", 0, to: 10)
    made.add("abandoned", below: limited, 1, to: 30)
    made.add("other", 12, to: 40)
    #expect(made.trace.summary.criticalPath.map(\.name) == ["other"])
    var alone = HandMadeTrace()
    let parent = alone.add("limited", 0, to: 10)
    alone.add("abandoned", below: parent, 1, to: 30)
    #expect(alone.trace.summary.criticalPath.map(\.name) == ["limited"])
  }

  @Test
  func `the longest waits include waits for the start if no other reason is known`() {
    var made = HandMadeTrace()
    made.add("slow to start", 0, start: 5, to: 50)
    made.add("queued", 0, start: 8, to: 50, lane: 1, waits: [(.place, 0, 8)])
    made.add("endless", 20, to: nil, lane: 2, waits: [(.conditions(["a", "b"]), 30, nil)])
    let waits = made.trace.summary.longestWaits
    #expect(
      waits.map { "\($0.name) \($0.kind.map { "\($0)" } ?? "start") \($0.duration)" } == [
        "endless a, b 0.02 seconds", "queued a place 0.008 seconds",
        "slow to start start 0.005 seconds",
      ])
  }

  @Test func `the summary lists the ten longest waits and leaf runs`() {
    var made = HandMadeTrace()
    for index in 1...30 {
      made.add(
        "run \(index)", 0, to: index * 7 % 31 + 10, lane: index,
        waits: [(.rate, 0, index * 7 % 31)])
    }
    let summary = made.trace.summary
    #expect(summary.longestRuns.map(\.duration) == (31...40).reversed().map { .milliseconds($0) })
    #expect(summary.longestWaits.map(\.duration) == (21...30).reversed().map { .milliseconds($0) })
  }

  @Test func `concurrency is a step function of the running leaves`() {
    let concurrency = Self.flow.summary.concurrency
    #expect(concurrency.most == 2)
    #expect(abs(concurrency.average - 0.72) < 1e-9)
    #expect(concurrency.buckets.count == 200)
    #expect(concurrency.bucketDuration == .microseconds(500))
    let whole = (0..<100).map { concurrency.buckets[2 * $0].average }
    let expected = (10..<110).map { time -> Double in
      switch time {
      case 32..<42: 2
      case 10..<30, 42..<52, 64..<66, 80..<100: 1
      default: 0
      }
    }
    #expect(whole == expected)
  }

  @Test func `sequential runs have a concurrency of 1 in every bucket`() {
    let summary = HandMadeTrace.chain(of: 777, isNested: false).summary
    #expect(summary.concurrency.most == 1)
    #expect(summary.concurrency.average == 1)
    #expect(summary.concurrency.buckets.allSatisfy { abs($0.average - 1) < 1e-9 })
    #expect(summary.concurrency.buckets.count <= 200)
  }

  @Test func `the path of ten thousand nested levels has twice as many stretches`() {
    let summary = HandMadeTrace.chain(of: 10_000, isNested: true).summary
    #expect(summary.criticalPath.count == 19_999)
    #expect(summary.busyTime == .milliseconds(2))
  }

  @Test func `an empty trace and a run without duration have a summary, too`() {
    let nothing = OperationTrace(beginning: 0, spans: []).summary
    #expect(nothing.runCount == 0 && nothing.concurrency.buckets.isEmpty)
    #expect(nothing.description == "nothing ran\n")
    var made = HandMadeTrace()
    made.add("quick", 3, to: 3)
    let quick = made.trace.summary
    #expect(quick.wallTime == .zero && quick.criticalPath.isEmpty && quick.concurrency.average == 0)
    #expect(
      quick.description == """
        1 run, 1 of them a leaf: 1 result
        wall 0 ns   busy 0 ns   waited 0 ns in leaves   concurrency 0.0 on average, 0 at most

        """)
  }

  @Test func `the description of a summary is text in columns`() {
    #expect(
      Self.flow.summary.description == """
        8 runs, 5 of them leaves: 6 results, 1 error, 1 cancelled; 1 was a retry
        wall 100 ms   busy 72.0 ms   waited 36.0 ms in leaves   concurrency 0.7 on average, 2 at most

        Concurrency over time
          ▅▅▅▅▅▅▅▅▅▅·█████▅▅▅▅▅······▅·······▅▅▅▅▅▅▅▅▅▅·····

        Critical path, 7 stretches
               began      length      waited
             10.0 ms     20.0 ms               user
             30.0 ms     2.00 ms               sync
             32.0 ms     20.0 ms               call
             52.0 ms     10.0 ms               tried
             62.0 ms     38.0 ms     16.0 ms   call (attempt 2)
              100 ms     5.00 ms               all
              105 ms     5.00 ms               sync

        Longest waits
               began      length
             42.0 ms     20.0 ms   late  for a place
             66.0 ms     10.0 ms   call  for connections
             70.0 ms     10.0 ms   call  for its turn
             62.0 ms     2.00 ms   call  for its start

        Longest runs
               began      length      waited
             62.0 ms     38.0 ms     16.0 ms   call (attempt 2)
             10.0 ms     20.0 ms               user
             32.0 ms     20.0 ms               call
             42.0 ms     20.0 ms     20.0 ms   late
             32.0 ms     10.0 ms               quick

        """)
  }

  @Test(arguments: [
    (0, "0 ns"), (812, "812 ns"), (12_400, "12.4 µs"), (3_210_000, "3.21 ms"),
    (3_040_000, "3.04 ms"),
    (999_999, "999 µs"), (1_240_000_000, "1.24 s"), (59_990_000_000, "59.9 s"),
    (125_000_000_000, "2 min 5 s"), (7_380_000_000_000, "2 h 3 min"),
  ])
  func `times have three significant figures`(nanoseconds: Int, text: String) {
    var made = HandMadeTrace()
    let end = Duration.nanoseconds(nanoseconds)
    made.add("run", 0, to: nil, waits: [])
    var span = made.spans[0]
    span.ended = end
    let summary = OperationTrace(beginning: 0, spans: [span]).summary
    #expect(summary.description.contains("wall \(text)   "), "\(summary.description)")
  }
}
