extension Goal {
  /// All goals. They hold for the sizes that the shapes have by themselves.
  static let all: [Goal] = [
    Goal("fan-out", "any", beside: "withThrowingTaskGroup", .atLeastTimes(40)),
    Goal("fan-out", "any", beside: "sliding window, 2 wide", .atLeastTimes(25)),
    Goal("fan-out", "any", beside: "OperationQueue, blocks", .atLeastTimes(100)),
    Goal("fan-out", "any", beside: "OperationQueue, asynchronous", .atLeastTimes(100)),
    Goal("fan-out", "any", beside: "Taskflow graph, built and run", .atLeastTimes(6)),
    Goal("fan-out", "any", beside: "Taskflow graph, run only", .atLeastTimes(2)),
    Goal("fan-out", "any", beside: "oneTBB task_group", .atLeastTimes(4)),
    Goal(
      "synchronous", "synchronous bodies", beside: "concurrentPerform of closures",
      .atLeastTimes(1.5)),

    // At least nine tenths of what the machine can do.
    Goal(
      "busy", "any", beside: "call and store, \(Cores.count) thread", .atLeastTimes(0.9)),

    Goal("sequence", "all steps kept", beside: "a task a step", .atLeastTimes(12)),
    Goal("sequence", "all steps kept", beside: "the ancestor's pattern", .atLeastTimes(40)),

    Goal("nested", "any", beside: "withThrowingTaskGroup", .atLeastTimes(20)),
    Goal("pairs", "array", beside: "withThrowingTaskGroup", .atLeastTimes(1.6)),
    Goal("eights", "array", beside: "withThrowingTaskGroup", .atLeastTimes(3.4)),

    Goal("sleep", "any", .atMost(14)),
    Goal("ending-in-reverse", "any", beside: "withThrowingTaskGroup", .atLeastTimes(20)),
    Goal("cancellation", "any", beside: "withThrowingTaskGroup", .atLeastTimes(1.2)),

    Goal("memory", "any, results kept", .atMost(16)),
    Goal("memory-waiting", "any, results kept", beside: "withThrowingTaskGroup", .atMostTimes(1.1)),

    Goal("events", "observer with a clock and a count", .atMost(60)),
    Goal("observed-busy", "recorder of everything", beside: "nobody observes", .atMostTimes(3)),
  ]
}
