import CompositeOperations
import DurableOperations
import DurableTestSupport
import Testing

@Suite struct DeploymentTests {
  @Test func `J20: two builds that take turns on one run continue each other's steps`()
    async throws
  {
    try await withTemporaryFile { file in
      try await Effects.recorded { effects in
        var turns = 0
        var end = RunState.ready
        while !end.hasEnded {
          // Each turn is a process with one of two programs; the sleeps between the steps end it.
          let process = TestStore(file)
          process.time.pass(.seconds(60 * turns))
          let run =
            turns % 2 == 0
            ? try await process.run(FirstBuild()) : try await process.run(SecondBuild())
          end = run.state
          turns += 1
        }
        #expect(end == .result)
        // Four steps and three sleeps.
        #expect(turns == 4)
        #expect(effects.names == ["first 0", "second 1", "first 2", "second 3"])
        let last = TestStore(file)
        #expect(try await last.outcome(of: SecondBuild.self).get() == 10)
        #expect(try await last.outcome(of: FirstBuild.self).get() == 10)
      }
    }
  }

  @Test func `J20: a build drops the fields of a state that only another build knows`() async throws
  {
    let test = TestStore()
    _ = try await test.run(SecondBuild())
    #expect(try await test.row().sequence.contains("labels"))
    test.time.pass(.seconds(60))
    _ = try await test.attempt("r", of: FirstBuild.self)
    #expect(try await test.row().sequence.contains("labels") == false)
  }

  @Test
  func `J20: a step that a new build inserts runs in the runs that have not passed its place`()
    async throws
  {
    let test = TestStore()
    try await Effects.recorded { effects in
      _ = try await test.run(FirstBuild(), "early")
      _ = try await test.run(FirstBuild(), "late")
      test.time.pass(.seconds(60))
      _ = try await test.attempt("late", of: FirstBuild.self)
      let before = effects.names.count
      for _ in 0..<4 {
        for id in ["early", "late"] as [RunID] {
          test.time.pass(.seconds(60))
          _ = try await test.attempt(id, of: InsertingBuild.self)
        }
      }
      #expect(effects.names.dropFirst(before).count { $0 == "inserted" } == 1)
      #expect(try await test.outcome("early", of: InsertingBuild.self).get() == 10)
      #expect(try await test.outcome("late", of: InsertingBuild.self).get() == 10)
    }
  }
}

/// A flow of four steps that add up numbers, with a sleep before each but the first.
private protocol CountingBuild: DurableSequence where Output == Int {
  static var title: String { get }
  var sum: Int { get set }
  var count: Int { get set }
}

extension CountingBuild {
  static var flowName: String { "Counting" }

  mutating func next(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let value = previous?.result(of: Note.self) {
      sum += value
      count += 1
      return count < 4 ? DurableSleep(for: .seconds(60)) : nil
    }
    return Note("\(Self.title) \(count)", count + 1)
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    next(after: previous)
  }

  func output(of steps: FinishedSteps) -> Int { sum }
}

private struct FirstBuild: CountingBuild {
  static let title = "first"
  var sum = 0
  var count = 0
}

/// A build with a field more.
private struct SecondBuild: CountingBuild {
  static let title = "second"
  var sum = 0
  var count = 0
  var labels: [String]?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    labels = (labels ?? []) + ["step \(count)"]
    return next(after: previous)
  }
}

/// A build with a step more, before the second number.
private struct InsertingBuild: CountingBuild {
  static let title = "inserting"
  var sum = 0
  var count = 0

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    let isSleepOver = previous?.result(of: DurableSleep.self) != nil
    if isSleepOver, count == 1 {
      return Inserted()
    }
    return next(after: previous)
  }
}

private struct Inserted: ComposableOperation {
  func perform(in context: OperationContext) async throws {
    Effects.current?.add("inserted", context)
  }
}
