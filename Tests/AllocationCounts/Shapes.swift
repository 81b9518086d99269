import CompositeOperations
import CompositeOperationsTestKit
internal import Synchronization

extension Shape {
  /// The shapes for one processor, where composites have no extra worker.
  static let unhelped = single + children + waiting + composites + steps

  private static let single = [
    whole("run()") { await Work().run().result == 1 },
    whole("start() and outcome") { await Work().start().outcome.result == 1 },
    whole("then") { await Work().then { Work(value: $0) }.run().result == 1 },
    whole("map") { await Work().map { $0 }.run().result == 1 },
    part("context.run") { count in
      let body = SimpleOperation.withContext { context in
        var sum = 0
        for _ in 0..<count { sum += try await context.run(Work()) }
        return sum
      }
      return { try await body.run().get() }
    },
    part("guarded by a circuit breaker") { count in
      let breaker = CircuitBreaker(opensAfterFailures: 5, halfOpensAfter: .seconds(1))
      return {
        var sum = 0
        for _ in 0..<count { sum += try await Work().guarded(by: breaker).run().get() }
        return sum
      }
    },
    part("limited by a key") { count in
      let permits = KeyedPermits<Int>(1)
      return {
        var sum = 0
        for key in 0..<count { sum += try await Work().limited(by: permits[key]).run().get() }
        return sum
      }
    },
  ]

  private static let children = [
    part("child of any type") { count in
      let children = mixed(count)
      return { try await ParallelOperation(children).run().get().sum }
    },
    part("child of one type") { count in
      let children = (0..<count).map { _ in Work() }
      return { try await ParallelOperation(children).run().get().sum }
    },
    part("child, a closure") { count in
      let children = (0..<count).map { _ in SimpleOperation { 1 } }
      return { try await ParallelOperation(children).run().get().sum }
    },
    part("child made lazily") { count in
      {
        try await ParallelOperation { (0..<count).lazy.map { _ in Work() } }.run().get().sum
      }
    },
    part("child made lazily, result used") { count in
      {
        let sum = Sum()
        let children = ParallelOperation {
          (0..<count).lazy.map { _ in Work() }
        } consumingResults: { value in
          sum.add(value)
        }
        try await children.run().get()
        return sum.value
      }
    },
    part("child observed") { count in
      let children = (0..<count).map { _ in Work() }
      return {
        try await ParallelOperation(children).observed(by: IdleObserver()).run().get().sum
      }
    },
  ]

  private static let waiting = [
    waiting("child that waits shortly", seconds: 0),
    waiting("child that waits long", seconds: 1),
    part("child of one type that waits") { count in
      let meeting = Meeting(of: count, seconds: 0)
      let children = (0..<count).map { _ in Attending(meeting: meeting) }
      return { try await ParallelOperation(children).run().get().sum }
    },
    part("child of any type that waits") { count in
      let meeting = Meeting(of: count, seconds: 0)
      let children = (0..<count).map { _ -> any ComposableOperation<Int> in
        Attending(meeting: meeting)
      }
      return { try await ParallelOperation(children).run().get().sum }
    },
  ]

  private static func waiting(_ name: String, seconds: Int64) -> Shape {
    part(name) { count in
      let meeting = Meeting(of: count, seconds: seconds)
      let children = (0..<count).map { _ in
        SimpleOperation {
          await meeting.attend()
          return 1
        }
      }
      return { try await ParallelOperation(children).run().get().sum }
    }
  }

  private static let composites = [
    parallel("parallel of 2", of: 2),
    parallel("parallel of 8", of: 8),
    whole("parallel of 2 types") {
      let (first, second) = try await ParallelOperation(Work(), OtherWork()).run().get()
      return first + second == 2
    },
    Shape(name: "list of 100 in a list", sizes: (10, 100)) { count in
      let lists = (0..<count).map { _ in ParallelOperation(mixed(100)) }
      return { try await ParallelOperation(lists).run().get().count { $0.sum == 100 } }
    },
    race("race of 2"),
  ]

  private static let steps = [
    part("step") { count in
      { try await SequentialOperation(Steps(count: count, history: .all)).run().get() }
    },
    part("step without history") { count in
      { try await SequentialOperation(Steps(count: count, history: .none)).run().get() }
    },
    whole("sequence of 2 steps") {
      try await SequentialOperation(Steps(count: 2, history: .all)).run().get() == 2
    },
    whole("retry without failures") {
      try await Work().retrying(attempts: 3).run().get() == 1
    },
    whole("hedge of one attempt") {
      try await Work().hedged(after: .seconds(600)).run().get() == 1
    },
    whole("timeout") {
      try await Work().timingOut(after: .seconds(600)).run().get() == 1
    },
    whole("timeout, time left") {
      let reading = SimpleOperation.withContext { context in context.timeLeft == nil ? 0 : 1 }
      return try await reading.timingOut(after: .seconds(600)).run().get() == 1
    },
    whole("abandoning timeout") {
      try await Work().timingOut(after: .seconds(600), .abandoning).run().get() == 1
    },
  ]
}

extension Shape {
  /// The shapes for two processors, where composites have an extra worker.
  static let helped = [
    parallel("parallel of 2, helped", of: 2).underExecutor,
    parallel("parallel of 8, helped", of: 8).underExecutor,
    race("race of 2, helped").underExecutor,
  ]

  private static func parallel(_ name: String, of size: Int) -> Shape {
    let children = mixed(size)
    return whole(name) { try await ParallelOperation(children).run().get().sum == size }
  }

  private static func race(_ name: String) -> Shape {
    let contenders = mixed(2)
    return whole(name) { try await RaceOperation(contenders).run().get() == 1 }
  }

  /// The shape on a seeded executor, where extra workers start immediately and in a fixed order.
  private var underExecutor: Shape {
    Shape(name: name, sizes: sizes) { count in
      let run = prepare(count)
      return { try await SeededExecutor(seed: 1).run { try await run() } }
    }
  }
}

/// Adds up results.
private final class Sum: Sendable {
  private let sum = Atomic(0)

  var value: Int { sum.load(ordering: .relaxed) }
  func add(_ value: Int) { sum.wrappingAdd(value, ordering: .relaxed) }
}

extension [Int] {
  fileprivate var sum: Int { reduce(0, +) }
}
