extension Goal {
  // The causes of goals that have been missed.
  private static let calling =
    "an asynchronous call through an existential is most of a child; with one type it is half"
  private static let building =
    "two closures and a record per node are two thirds of it; see \"run only\""
  private static let wandering =
    "within the variance of the machine: other runs meet it; see least and most"

  /// All goals. They apply to the default sizes of the shapes.
  static let all: [Goal] = [
    Goal("fan-out", "any", beside: "withThrowingTaskGroup", .atLeastTimes(40)),
    Goal(
      "fan-out", "any", beside: "sliding window, 2 wide", .atLeastTimes(25), obstacle: wandering),
    Goal(
      "fan-out", "any", beside: "OperationQueue, blocks", .atLeastTimes(100), obstacle: wandering),
    Goal(
      "fan-out", "any", beside: "OperationQueue, asynchronous", .atLeastTimes(100),
      obstacle: wandering),
    Goal(
      "fan-out", "any", beside: "Taskflow graph, built and run", .atLeastTimes(6),
      obstacle: calling),
    Goal(
      "fan-out", "any", beside: "Taskflow graph, run only", .atLeastTimes(2), obstacle: calling),
    Goal("fan-out", "any", beside: "oneTBB task_group", .atLeastTimes(4), obstacle: wandering),
    Goal(
      "synchronous", "synchronous bodies", beside: "concurrentPerform of closures",
      .atLeastTimes(1.5)),

    // At least nine tenths of the machine's limit.
    Goal(
      "busy", "any", beside: "call and store, \(Cores.count) thread", .atLeastTimes(0.9),
      obstacle: wandering),

    Goal(
      "sequence", "all steps kept", beside: "a task a step", .atLeastTimes(12),
      obstacle: wandering),
    Goal("sequence", "all steps kept", beside: "the ancestor's pattern", .atLeastTimes(40)),

    Goal(
      "graph-chain", "graph, built and run", beside: "oneTBB flow graph, built and run",
      .atLeastTimes(2), obstacle: building),
    Goal(
      "graph-fan", "graph, built and run", beside: "oneTBB flow graph, built and run",
      .atLeastTimes(2), obstacle: building),
    Goal(
      "graph-chain-1k", "graph, built and run", beside: "OperationQueue, dependencies",
      .atLeastTimes(50), obstacle: wandering),
    Goal(
      "graph-fan-1k", "graph, built and run", beside: "OperationQueue, dependencies",
      .atLeastTimes(50), obstacle: wandering),

    Goal(
      "nested", "any", beside: "withThrowingTaskGroup", .atLeastTimes(20), obstacle: wandering),
    Goal("pairs", "array", beside: "withThrowingTaskGroup", .atLeastTimes(1.6)),
    Goal("pairs-after-light", "array", beside: "withThrowingTaskGroup", .atMostTimes(1.1)),
    Goal("pairs-after-light", "pack", beside: "withThrowingTaskGroup", .atMostTimes(1.1)),
    Goal("pairs-after-light", "made lazily", beside: "withThrowingTaskGroup", .atMostTimes(1.1)),
    Goal("eights", "array", beside: "withThrowingTaskGroup", .atLeastTimes(3.4)),

    Goal("sleep", "any", .atMost(14), obstacle: wandering),
    Goal(
      "ending-in-reverse", "any", beside: "withThrowingTaskGroup", .atLeastTimes(20),
      obstacle: "starting and ending a waiting task is nearly all of it, in any order"),
    Goal(
      "cancellation", "any", beside: "withThrowingTaskGroup", .atLeastTimes(1.2),
      obstacle: "cancelling and ending the tasks is nearly all of it, and equal for both"),

    Goal(
      "modifiers", "retrying", beside: "no modifier", .atMostMore(50),
      obstacle: "an attempt is a run, which checks for cancellation twice"),
    Goal(
      "modifiers", "timingOut", beside: "no modifier", .atMostTimes(8),
      obstacle: "the body needs a child task, and a group with an empty one takes longer"),
    Goal(
      "modifiers", "timingOut, body waits", beside: "timeout by a task group, body waits",
      .atMostTimes(1)),
    Goal(
      "modifiers", "exclusive", beside: "no modifier", .atMostMore(200), obstacle: wandering),
    Goal(
      "modifiers", "requiring", beside: "no modifier", .atMostMore(100), obstacle: wandering),

    Goal("spawns", "output kept", beside: "Foundation.Process", .atLeastTimes(1.8)),
    Goal(
      "processes", "output kept", beside: "Foundation.Process", .atLeastTimes(1.8),
      obstacle: "most of it is loading, linking and ending the program itself: see spawns"),
    Goal("processes", "output kept", beside: "make -j2", .atLeastTimes(0.9), obstacle: wandering),
    Goal("processes", "output kept", beside: "ninja -j2", .atLeastTimes(0.9), obstacle: wandering),

    Goal("blocking", "BlockingOperation", .atMost(5)),

    Goal("memory", "any, results kept", .atMost(16)),
    Goal("memory-waiting", "any, results kept", beside: "withThrowingTaskGroup", .atMostTimes(1.1)),

    Goal(
      "events", "observer with a clock and a count", .atMost(60),
      obstacle: "a quarter of the whole cost of observing a child, not only the observer's part"),
    Goal("recording", "trace recorder", .atMost(60)),
    Goal("observed-busy", "recorder of everything", beside: "no observer", .atMostTimes(3)),
  ]
}
