import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The ways to put an operation into another one.
private enum Nesting: CaseIterable, Sendable {
  case parallel, serial, mixed, pack, lazily, race, sequence, map, then, erased, named, body

  func around(_ inner: any ComposableOperation<Int>) -> any ComposableOperation<Int> {
    func wrap(_ inner: some ComposableOperation<Int>) -> any ComposableOperation<Int> {
      switch self {
      case .parallel: ParallelOperation([inner]).map { $0[0] }
      case .serial: ParallelOperation([inner], width: .serial).map { $0[0] }
      case .mixed:
        ParallelOperation([inner, SimpleOperation { 0 }] as [any ComposableOperation<Int>]).map {
          $0[0]
        }
      case .pack: ParallelOperation(inner, SimpleOperation { "" }).map { $0.0 }
      case .lazily: ParallelOperation { [inner] }.map { $0[0] }
      case .race: RaceOperation([inner])
      case .sequence: SequentialOperation(.retrying(inner, attempts: 1))
      case .map: inner.map { $0 }
      case .then: SimpleOperation { 0 }.then { _ in AnyOperation(inner) }
      case .erased: AnyOperation(inner)
      case .named: inner.named("n")
      case .body: SimpleOperation.withContext { context in try await context.run(inner) }
      }
    }
    // Erased at every level: nested generic types would be as deep as the operations.
    return wrap(AnyOperation(inner))
  }
}

@Suite struct DepthTests {
  @Test(arguments: Nesting.allCases)
  fileprivate func `C4: 10,000 levels run and are freed on the default stack`(nesting: Nesting)
    async
  {
    for (suspends, fails) in [(false, false), (true, false), (false, true)] {
      var operation: any ComposableOperation<Int> = SimpleOperation {
        if suspends { await Task.yield() }
        if fails { throw TestError("failed") }
        return 7
      }
      for _ in 0..<Scale.depth { operation = nesting.around(operation) }
      let outcome = await operation.ending()
      #expect(fails ? outcome.hasFailed : outcome.result == 7)
      #expect(outcome.description.count < 10_000)
    }
  }

  @Test func `C4: composites that make their children as they go nest 10,000 levels deep`() async {
    struct Countdown: ComposableOperation {
      let count: Int
      func perform(in context: OperationContext) async throws -> Int {
        if count == 0 { return 0 }
        let below = try await context.run(
          ParallelOperation([Countdown(count: count - 1), Countdown(count: 0)]))
        return below[0] + 1
      }
    }
    #expect(await Countdown(count: Scale.depth).run().result == Scale.depth)
  }

  @Test func `C4: paths of 10,000 levels are linked, and freed`() async throws {
    var operation: any ComposableOperation<Int> = SimpleOperation.withContext { context in
      context.path.names.count
    }
    for _ in 0..<Scale.depth { operation = Nesting.body.around(operation) }
    let recorder = RecordingObserver()
    let environment = OperationEnvironment(observers: [recorder])
    #expect(await operation.result(in: environment) == Scale.depth + 1)
    #expect(recorder.outcomes.count == Scale.depth + 1)
  }

  @Test func `C4: a deep composite is cancelled and freed`() async {
    let gate = Gate()
    var operation: any ComposableOperation<Int> = SimpleOperation {
      try await gate.pass()
      return 7
    }
    for level in 0..<Scale.depth {
      operation = Nesting.allCases[level % Nesting.allCases.count].around(operation)
    }
    let run = AnyOperation(operation).start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `C4: a name does not grow with the depth`() {
    let names = NameCount()
    var mapped = names.operation(named: "fetch") { 7 }
    var retried = mapped
    var (ofMapped, ofRetried): ([String], [String]) = ([], [])
    for _ in 0..<100 {
      mapped = AnyOperation(mapped).map { $0 }
      retried = AnyOperation(retried).retrying(attempts: 1)
      ofMapped.append(mapped.operationName)
      ofRetried.append(retried.operationName)
    }
    #expect(ofMapped[0] == "fetch.map")
    #expect(ofMapped[7] == "fetch" + String(repeating: ".map", count: 8))
    #expect(ofMapped[8] == "fetch.….map" && ofMapped[30] == "fetch.….map")
    #expect(ofMapped[99] == "….map")
    #expect(ofRetried[0] == "fetch" && ofRetried[30] == "fetch" && ofRetried[99] == "…")
    // Each is looked for through 64 modifiers, of which every level has two.
    #expect(names.count == 64)
  }

  @Test func `C4: a path is shown in part where it is long`() async throws {
    let paths = Log<OperationPath>()
    var operation: any ComposableOperation<Void> = SimpleOperation { context in
      paths.add(context.path)
    }.named("0")
    for level in 1...100 {
      operation = AnyOperation(operation).map { $0 }.named("\(level)")
    }
    _ = await operation.run(in: OperationEnvironment(observers: [RecordingObserver()]))
    let path = try #require(paths.entries.first)
    #expect(path.names == (0...100).reversed().map { "\($0)" })
    let first = (69...100).reversed().map { "\($0)" }
    let last = (0...31).reversed().map { "\($0)" }
    #expect("\(path)" == (first + ["… 37 more …"] + last).joined(separator: "/"))
  }
}

extension ComposableOperation {
  fileprivate func ending() async -> (result: Success?, hasFailed: Bool, description: String) {
    let outcome = await run()
    return (outcome.result, outcome.error != nil, "\(outcome)")
  }
  fileprivate func result() async -> Success? { await run().result }
  fileprivate func result(in environment: OperationEnvironment) async -> Success? {
    await run(in: environment).result
  }
}
