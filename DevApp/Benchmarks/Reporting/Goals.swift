extension Goal {
  // The causes of goals that have been missed.
  private static let calling =
    "an asynchronous call through an existential is most of a child; with one type it is half"
  private static let building =
    "two closures and a record per node are two thirds of it; see \"run only\""
  private static let taskPerRun =
    "every run is a task, because only a task carries the submitter's task-local values"
  private static let standby =
    "it has outcomes, failures, cancellation and a limit: compare \"minimal composite\""
  private static let checking =
    "a run reads twice whether its task has been cancelled, in 100 instructions each"
  private static let keeping =
    "keeping a record of each step is most of it: compare \"direct loop, records kept\""
  private static let loading =
    "it has pipes, a process group and a wait to cancel: compare \"posix_spawn and waitpid\""
  private static let watching =
    "a run that is observed has a scope, a cancellation handler, and two readings of the clock"

  private static let taskGroup = "withThrowingTaskGroup"

  /// All goals. They apply to the default sizes of the shapes.
  static let all: [Goal] =
    fanOut + sequences + graphs + composites + endings + runs + modifiers + events + programs
    + http

  private static let fanOut: [Goal] = [
    Goal("fan-out", "any", beside: taskGroup, .atLeastTimes(45)),
    Goal("fan-out", "any", beside: "sliding window, 2 wide", .atLeastTimes(25)),
    Goal("fan-out", "any", beside: "OperationQueue, blocks", .atLeastTimes(100)),
    Goal("fan-out", "any", beside: "OperationQueue, asynchronous", .atLeastTimes(100)),
    Goal(
      "fan-out", "any", beside: "Taskflow graph, built and run", .atLeastTimes(4),
      obstacle: calling),
    Goal(
      "fan-out", "any", beside: "Taskflow graph, run only", .atLeastTimes(2), obstacle: calling),
    Goal("fan-out", "any", beside: "oneTBB task_group", .atLeastTimes(4)),
    Goal("fan-out", "any, in runs of one type", beside: "any", .atMostTimes(0.6)),
    Goal(
      "fan-out", "closures", beside: "any", .atMostTimes(1),
      obstacle: "calling an asynchronous closure takes a second asynchronous frame"),
    Goal(
      "synchronous", "synchronous bodies", beside: "concurrentPerform of closures",
      .atLeastTimes(1.5)),
    // At least nine tenths of the machine's limit.
    Goal("busy", "any", beside: PhysicalLimit.name(threads: Cores.count), .atLeastTimes(0.9)),
  ]

  private static let sequences: [Goal] = [
    Goal(
      "sequence", "all steps kept", beside: "a task a step", .atLeastTimes(14), obstacle: keeping),
    Goal(
      "sequence", "all steps kept", beside: "the ancestor's pattern", .atLeastTimes(40),
      obstacle: keeping),
    Goal("sequence", "retries that succeed at once", beside: "all steps kept", .atMostTimes(1.3)),
  ]

  private static let graphs: [Goal] = ["graph-chain", "graph-fan"].flatMap { shape in
    [
      Goal(
        shape, "graph, built and run", beside: "oneTBB flow graph, built and run",
        .atLeastTimes(2), obstacle: building),
      Goal(
        shape, "graph, built and run", beside: "Taskflow graph, built and run",
        .atLeastTimes(0.8), obstacle: building),
      Goal(
        "\(shape)-1k", "graph, built and run", beside: "OperationQueue, dependencies",
        .atLeastTimes(50)),
    ]
  }

  private static let composites: [Goal] = [
    Goal("nested", "any", beside: taskGroup, .atLeastTimes(20)),
    Goal("pairs", "array", beside: taskGroup, .atLeastTimes(4), obstacle: standby),
    Goal("pairs", "array", beside: "async let", .atLeastTimes(2.2), obstacle: standby),
    Goal("eights", "array", beside: taskGroup, .atLeastTimes(8), obstacle: standby),
    Goal(
      "deep", "any", beside: taskGroup, .atLeastTimes(1.2),
      obstacle:
        "a level is a value, a state and 15 asynchronous calls: compare \"minimal composite\""),
    Goal("lazy", "lazy sequence", beside: "sliding window, 64 wide", .atLeastTimes(5)),
    Goal(
      "lazy", "lazy sequence, results used", beside: "sliding window, 64 wide", .atLeastTimes(3)),
    Goal("lazy", "async sequence", beside: "sliding window, 64 wide", .atLeastTimes(2)),
    Goal("pairs-after-light", "array", beside: taskGroup, .atMostTimes(1.1)),
    Goal("pairs-after-light", "pack", beside: taskGroup, .atMostTimes(1.1)),
    Goal("pairs-after-light", "made lazily", beside: taskGroup, .atMostTimes(1.1)),
    Goal("heavy-after-light", "array", beside: "a thread on each core", .atMostTimes(1.1)),
    Goal("eight-long", "lazy sequence", beside: "a thread on each core", .atMostTimes(1.1)),
    Goal("eight-long", "graph", beside: "a thread on each core", .atMostTimes(1.1)),
    Goal("eight-long", "pool, 2 wide", beside: "a thread on each core", .atMostTimes(1.1)),
    Goal("timeout-busy", "timingOut", .atMost(55)),
    Goal("short-beside-endless", "sequences", .atMost(10)),
  ]

  private static let endings: [Goal] =
    [
      Goal("sleep", "any", .atMost(14)),
      Goal(
        "ending-in-reverse", "any", beside: taskGroup, .atLeastTimes(20),
        obstacle: "starting and ending a waiting task is nearly all of it, in any order"),
    ]
    + ["failure", "cancellation"].flatMap { shape in
      ["-1k", "", "-100k"].map { size in
        Goal(
          shape + size, "any", beside: taskGroup, .atLeastTimes(1.2),
          obstacle: "cancelling and ending the tasks is nearly all of it, and equal for both")
      }
    }

  private static let runs: [Goal] = [
    Goal(
      "single", "start().outcome", beside: "Task.value", .atLeastTimes(0.8),
      obstacle: "it is a task, with one more object for its identity and its cancellation"),
    Goal(
      "pool", "pool, 2 wide", beside: "OperationQueue, 2 wide", .atLeastTimes(3),
      obstacle: taskPerRun),
    Goal(
      "pool", "pool, 64 wide", beside: "OperationQueue, 64 wide", .atLeastTimes(3),
      obstacle: taskPerRun),
    Goal("blocking", "BlockingOperation", .atMost(5)),
    Goal("memory", "any, results kept", .atMost(16)),
    Goal("memory-waiting", "any, results kept", beside: taskGroup, .atMostTimes(1.1)),
    Goal(
      "memory-waiting", "made lazily, results used", beside: "any, results kept",
      .atMostTimes(1.1)),
  ]

  private static let modifiers: [Goal] = [
    Goal("modifiers", "retrying", beside: "no modifier", .atMostTimes(1.7)),
    Goal("modifiers", "exclusive", beside: "no modifier", .atMostTimes(3.6), obstacle: checking),
    Goal("modifiers", "requiring", beside: "no modifier", .atMostTimes(2)),
    Goal(
      "modifiers", "repeating 3 times", beside: "loop 3 times", .atMostTimes(3),
      obstacle: checking),
    Goal("modifiers", "finally", beside: "cleanup by a task", .atMostTimes(1)),
    Goal(
      "modifiers", "requiring, condition that may wait", beside: "guard by an unstructured task",
      .atMostTimes(1)),
    Goal(
      "modifiers", "timingOut", beside: "no modifier", .atMostTimes(8),
      obstacle: "the body needs a child task, and a group with an empty one takes longer"),
    Goal(
      "modifiers", "timingOut, body waits", beside: "timeout by a task group, body waits",
      .atMostTimes(1)),
  ]

  private static let events: [Goal] = [
    Goal("observed", "observer that does nothing", beside: taskGroup, .atLeastTimes(6)),
    Goal(
      "observed", "recorder of everything", beside: taskGroup, .atLeastTimes(3),
      obstacle: watching),
    Goal("observed-busy", "recorder of everything", beside: "no observer", .atMostTimes(3)),
    Goal(
      "events", "observer with a clock and a count", beside: "a reading of the clock",
      .atMostTimes(3), obstacle: watching),
    Goal("recording", "trace recorder", .atMost(60)),
  ]

  private static let http: [Goal] = [
    Goal("http-64", "HTTPDataOperation", beside: "URLSession", .atLeastTimes(5)),
    Goal("http-to-file", "HTTPDownloadOperation", beside: "curl", .atLeastTimes(0.8)),
    Goal("http-waiting", "HTTPDataOperation", .atMost(30_000)),
  ]

  private static let programs: [Goal] = [
    Goal(
      "spawns", "output kept", beside: "Foundation.Process", .atLeastTimes(2), obstacle: loading),
    Goal(
      "processes", "output kept", beside: "Foundation.Process", .atLeastTimes(1.8),
      obstacle: loading),
    Goal("processes", "output kept", beside: "make -j2", .atLeastTimes(1), obstacle: loading),
    Goal("processes", "output kept", beside: "ninja -j2", .atLeastTimes(0.9)),
  ]
}
