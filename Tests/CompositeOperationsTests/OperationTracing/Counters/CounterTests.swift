import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite(.timeLimit(.minutes(10))) struct CounterTests {
  @Test func `runs are counted by name and outcome`() async {
    let counters = OperationCounters()
    await TraceScene.run(observedBy: counters)
    await TraceScene.run(observedBy: counters)
    let counts = Dictionary(uniqueKeysWithValues: counters.counts.map { ($0.name, $0) })
    #expect(counts["root"]?.begun == 2)
    #expect(counts["root"]?.errors == 2)
    #expect(counts["logs"]?.results == 2)
    #expect(counts["stops"]?.cancellations == 2)
    #expect(counts[TraceScene.oddText]?.errors == 2)
    #expect(counters.total.retries == 2)
    #expect(counters.total.inFlight == 0)
    #expect(counters.total.begun == counters.total.ended)
    #expect(counters.total.durations.count == counters.total.ended)
    #expect(counters.total.durations.sum > .zero)
    #expect(counters.total.waiting == [.time: 0])
    #expect(counters.counts.map(\.name) == counts.keys.sorted())
  }

  @Test func `active and waiting runs are counted as long as they are active or wait`() async {
    let counters = OperationCounters()
    let gate = Gate()
    let lock = Permits(1)
    let environment = OperationEnvironment(observers: [counters])
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).named("a")
      .start(in: environment)
    await gate.waitForArrivals(1)
    let waiter = SimpleOperation {}.exclusive(in: lock).named("b").start(in: environment)
    while lock.waitingCount == 0 { await Task.yield() }
    #expect(counters.counts.map(\.inFlight) == [1, 1])
    #expect(counters.total.waiting == [.permits: 1])
    gate.open()
    _ = await (holder.outcome, waiter.outcome)
    #expect(counters.total.inFlight == 0)
    #expect(counters.total.waiting == [.permits: 0])
  }

  @Test func `V13: counters do not count the run of a modifier`() async {
    let counters = OperationCounters()
    let fetch = SimpleOperation { 1 }.named("fetch")
    let operations: [any ComposableOperation<Int>] = [
      fetch.repeating(times: 3), fetch.retrying(attempts: 2).onEnd { _ in },
      fetch.finally { _ in }.named("all"),
    ]
    for operation in operations {
      _ = await operation.run(in: OperationEnvironment(observers: [counters]))
    }
    #expect(counters.counts.map { "\($0.name) \($0.results)" } == ["all 1", "fetch 5"])
  }

  @Test func `names beyond the limit are counted together`() async {
    let counters = OperationCounters(nameLimit: 2)
    for name in ["a", "b", "c", "d", "a", "c"] {
      _ = await SimpleOperation {}.named(name).observed(by: counters).run()
    }
    #expect(counters.counts.map { "\($0.name) \($0.begun)" } == ["a 2", "b 1", "other 3"])
  }

  @Test func `runs that began before the counters observed are not counted`() async {
    let counters = OperationCounters()
    let other = RecordingObserver()
    let operation = SimpleOperation.withContext { context in
      _ = await context.outcome(of: SimpleOperation {}.named("in").observed(by: counters))
    }
    _ = await operation.named("out").observed(by: other).run()
    #expect(counters.counts.map(\.name) == ["in"])
    #expect(counters.total.inFlight == 0)
  }

  @Test func `a duration is in the first bucket whose bound is not below it`() async {
    let counters = OperationCounters(bounds: [1e-9, 1e8])
    _ = await SimpleOperation {}.observed(by: counters).run()
    #expect(counters.total.durations.counts == [0, 1, 0])
    #expect(counters.total.durations.bounds == [1e-9, 1e8])
    let none = OperationCounters(bounds: [])
    _ = await SimpleOperation {}.observed(by: none).run()
    #expect(none.total.durations.counts == [1])
  }

  @Test func `runs on many threads are counted once each`() async {
    let counters = OperationCounters()
    let list = ParallelOperation(
      (0..<20_000).map { index in
        SimpleOperation { if index.isMultiple(of: 2) { throw TestError("odd") } }.named("x")
      }, onFailure: .runAll)
    _ = await list.named("list").observed(by: counters).run()
    let counts = counters.counts.first { $0.name == "x" }
    #expect(counts?.results == 10_000)
    #expect(counts?.errors == 10_000)
  }

  @Test func `the Prometheus text has every family, with escaped labels and cumulative buckets`()
    async
  {
    let counters = OperationCounters(bounds: [1e-9, 1e8])
    _ = await SimpleOperation {}.named("a\\b\"c\nd").observed(by: counters).run()
    let lines = counters.prometheusText.split(separator: "\n").filter { !$0.contains("_sum") }
    let label = #"operation="a\\b\"c\nd""#
    #expect(
      lines.map(String.init) == [
        "# HELP composite_operations_runs_begun_total Runs that were created.",
        "# TYPE composite_operations_runs_begun_total counter",
        "composite_operations_runs_begun_total{\(label)} 1",
        "# HELP composite_operations_runs_ended_total Runs that have ended, by their outcomes.",
        "# TYPE composite_operations_runs_ended_total counter",
        "composite_operations_runs_ended_total{\(label),outcome=\"result\"} 1",
        "composite_operations_runs_ended_total{\(label),outcome=\"error\"} 0",
        "composite_operations_runs_ended_total{\(label),outcome=\"cancelled\"} 0",
        "# HELP composite_operations_runs_in_flight Runs that have not ended.",
        "# TYPE composite_operations_runs_in_flight gauge",
        "composite_operations_runs_in_flight{\(label)} 0",
        "# HELP composite_operations_runs_waiting Runs that are waiting, by what they wait for.",
        "# TYPE composite_operations_runs_waiting gauge",
        "# HELP composite_operations_retries_total Attempts that failed and were followed by "
          + "another one.",
        "# TYPE composite_operations_retries_total counter",
        "composite_operations_retries_total{\(label)} 0",
        "# HELP composite_operations_run_duration_seconds Time from the creation of a run to its "
          + "end, waiting included.",
        "# TYPE composite_operations_run_duration_seconds histogram",
        "composite_operations_run_duration_seconds_bucket{\(label),le=\"1e-09\"} 0",
        "composite_operations_run_duration_seconds_bucket{\(label),le=\"100000000.0\"} 1",
        "composite_operations_run_duration_seconds_bucket{\(label),le=\"+Inf\"} 1",
        "composite_operations_run_duration_seconds_count{\(label)} 1",
      ])
    #expect(counters.prometheusText.hasSuffix("\n"))
  }
}
