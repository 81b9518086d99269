import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Closures that choose among operations of different types.
@Suite struct BranchTests {
  private struct Double: ComposableOperation {
    let number: Int
    func perform(in context: OperationContext) async throws -> Int { number * 2 }
  }

  private struct Zero: ComposableOperation {
    func perform(in context: OperationContext) async throws -> Int { 0 }
  }

  private static func choosing(_ number: Int) -> some ComposableOperation<Int> {
    SimpleOperation { number }.then { number in
      switch number {
      case 1: Double(number: number)
      case 2:
        if number > 1 {
          Zero().named("nothing")
        } else {
          Zero()
        }
      default: ParallelOperation([Zero()]).map { _ in number }
      }
    }
  }

  @OperationBuilder private static func zero(
    orDouble number: Int
  ) -> some ComposableOperation<Int> {
    if number == 0 { Zero() } else { Double(number: number) }
  }

  @Test func `branches can have different types in then, in catching and in a graph`() async throws
  {
    for (number, result) in [(1, 2), (2, 0), (3, 3)] {
      #expect(await Self.choosing(number).run().result == result)
      let failing = SimpleOperation<Int> { throw TestError("\(number)") }
      let fallback = failing.catching { error in
        if "\(error)" == "1" { Double(number: 1) } else { Self.choosing(number) }
      }
      #expect(await fallback.run().result == result)
      let graph = OperationGraph { graph in
        let node = graph.add(SimpleOperation { number })
        return graph.add(needing: node) { number in
          if number == 1 { Double(number: number) } else { Self.choosing(number) }
        }
      }
      #expect(await graph.run().result == result)
    }
  }

  @Test func `a branch keeps its name, and a sequence finds its typed result`() async throws {
    let recorder = RecordingObserver()
    let environment = OperationEnvironment(observers: [recorder])
    _ = await Self.choosing(1).run(in: environment)
    _ = await Self.choosing(2).run(in: environment)
    let names = Set(recorder.events.map(\.name))
    #expect(names.isSuperset(of: ["Double", "nothing"]), "\(names)")
    let seen = Log<[Int?]>()
    let steps = ClosureSequence { previous in
      guard let previous else { return Self.zero(orDouble: 3) }
      seen.add([previous.result(of: Zero.self), previous.result(of: Double.self)])
      return previous.index == 0 ? Self.zero(orDouble: 0) : nil
    }
    _ = await SequentialOperation(steps).run()
    #expect(seen.entries == [[nil, 6], [0, nil]])
  }

  @Test func `O3: a late value of a branch is discarded once`() async {
    let discarded = Log<Int>()
    for isFirst in [true, false] {
      let gate = Gate()
      let late = SimpleOperation {
        await gate.passIgnoringCancellation()
        return 7
      }.discarding { discarded.add($0) }
      let operation = SimpleOperation { isFirst }.then { isFirst in
        if isFirst { late } else { late.named("second") }
      }
      let run = operation.start()
      await gate.waitForArrivals(1)
      run.cancel()
      gate.open()
      #expect(await run.outcome.isCancelled)
    }
    #expect(discarded.entries == [7, 7])
  }
}
