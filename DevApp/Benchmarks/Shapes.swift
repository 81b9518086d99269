import CompositeOperations

extension Shape {
  /// Makes the shapes one by one: each holds the operations that it runs.
  static func all(count: Int) -> [() -> Shape] {
    [
      { fanOut(count) }, { sequence(count) }, { nested(side: 316) },
      { groups(of: 2, count: count) }, { groups(of: 8, count: count) }, { single(count) },
    ]
  }

  private static func fanOut(_ count: Int) -> Shape {
    let any = (0..<count).map { mixed($0) }
    let generic = (0..<count).map { Work(seed: UInt64($0)) }
    let closures = (0..<count).map { (index: Int) -> SimpleOperation<UInt64> in
      let seed = UInt64(index)
      return SimpleOperation { work(seed) }
    }
    func parallel(_ name: String, _ operation: ParallelOperation<[UInt64]>) -> Benchmark {
      Benchmark(name: name, operations: count) { try await operation.run().get().sum }
    }
    return Shape(
      name: "fan-out of \(count) empty operations",
      ways: [
        Benchmark(name: "withThrowingTaskGroup", operations: count) {
          try await taskGroup(any).sum
        },
        parallel("any", ParallelOperation(any)),
        parallel("generic", ParallelOperation(generic)),
        parallel("closures", ParallelOperation(closures)),
        parallel("any, serial", ParallelOperation(any, width: .serial)),
        parallel("any, width 64", ParallelOperation(any, width: .limited(to: 64))),
        Benchmark(name: "any, observed", operations: count) {
          let environment = OperationEnvironment(observers: [IdleObserver()])
          return try await ParallelOperation(any).run(in: environment).get().sum
        },
        parallel(
          "made lazily",
          ParallelOperation { (0..<count).lazy.map { Work(seed: UInt64($0)) } }),
      ])
  }

  private static func sequence(_ count: Int) -> Shape {
    func sequential(_ name: String, _ history: StepHistory) -> Benchmark {
      Benchmark(name: name, operations: count) {
        try await SequentialOperation(Steps(count: count, history: history)).run().get()
      }
    }
    return Shape(
      name: "sequence of \(count) empty steps",
      ways: [
        Benchmark(name: "a task a step", operations: count) { try await taskChain(count) },
        sequential("all steps kept", .all),
        sequential("no step kept", .none),
      ])
  }

  private static func nested(side: Int) -> Shape {
    let lists = (0..<side).map { row in (0..<side).map { mixed(row * side + $0) } }
    let nested = ParallelOperation(lists.map { ParallelOperation($0) })
    return Shape(
      name: "\(side) lists of \(side) empty operations",
      ways: [
        Benchmark(name: "withThrowingTaskGroup", operations: side * side) {
          try await withThrowingTaskGroup(of: UInt64.self) { group in
            for list in lists { group.addTask { try await taskGroup(list).sum } }
            var sum: UInt64 = 0
            for try await part in group { sum &+= part }
            return sum
          }
        },
        Benchmark(name: "ParallelOperation", operations: side * side) {
          try await nested.run().get().reduce(0) { $0 &+ $1.sum }
        },
      ])
  }

  private static func groups(of size: Int, count: Int) -> Shape {
    Shape(
      name: "parallel of \(size), \(count / size) times",
      ways: [
        Benchmark(name: "withThrowingTaskGroup", operations: count) {
          var sum: UInt64 = 0
          for first in stride(from: 0, to: count, by: size) {
            sum &+= try await taskGroup((first..<first + size).map { mixed($0) }).sum
          }
          return sum
        },
        Benchmark(name: "ParallelOperation", operations: count) {
          var sum: UInt64 = 0
          for first in stride(from: 0, to: count, by: size) {
            let operations = (first..<first + size).map { mixed($0) }
            sum &+= try await ParallelOperation(operations).run().get().sum
          }
          return sum
        },
      ])
  }

  private static func single(_ count: Int) -> Shape {
    func each(
      _ name: String, _ body: @escaping @Sendable (Work) async throws -> UInt64
    ) -> Benchmark {
      Benchmark(name: name, operations: count) {
        var sum: UInt64 = 0
        for index in 0..<count { sum &+= try await body(Work(seed: UInt64(index))) }
        return sum
      }
    }
    let context = OperationContext()
    return Shape(
      name: "one operation, \(count) times",
      ways: [
        each("perform(in:)") { try await $0.perform(in: context) },
        each("context.run(_:)") { try await context.run($0) },
        each("run()") { try await $0.run().get() },
        each("start().outcome") { try await $0.start().outcome.get() },
        each("three thens and a map") { first in
          let zero = Work(seed: 0)
          return try await first.then { value in zero.map { value &+ $0 } }
            .then { value in zero.map { value &+ $0 } }.then { value in zero.map { value &+ $0 } }
            .map { $0 }.run().get()
        },
      ])
  }
}

/// Makes an operation a step, of two types in turn, and sums their results as they come.
private struct Steps: OperationSequence {
  let count: Int
  let history: StepHistory
  private var begun = 0
  private var sum: UInt64 = 0

  init(count: Int, history: StepHistory) {
    self.count = count
    self.history = history
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let value = previous?.result(of: Work.self) { sum &+= value }
    if let value = previous?.result(of: OtherWork.self) { sum &+= value }
    if begun == count { return nil }
    begun += 1
    return mixed(begun - 1)
  }

  func output(of steps: FinishedSteps) -> UInt64 { sum }
}

/// Sees every event and does nothing: the price of being observed at all.
private struct IdleObserver: OperationObserver {
  func observe(_ event: OperationEvent) {}
}
