import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Random programs of nested operations that take permits.
@Suite(.timeLimit(.minutes(10))) struct PermitProgramTests {
  @Test(arguments: 0..<60)
  func `E4: requests for permits in a fixed order are never refused, however nested`(seed: UInt64)
    async throws
  {
    var program = PermitProgram(seed: seed, isOrdered: true)
    let operations = (0..<30).map { _ in program.operation() }
    let outcome = await ParallelOperation(operations).run()
    #expect(outcome.result != nil, "seed \(seed): \(outcome)")
    #expect(program.areAllBack, "seed \(seed)")
  }

  @Test(arguments: 0..<60)
  func `E4: operations that take permits in any order end, and release all permits`(seed: UInt64)
    async throws
  {
    var program = PermitProgram(seed: seed, isOrdered: false)
    let operations = (0..<30).map { _ in program.operation() }
    let list = ParallelOperation(operations, onFailure: .runAll).collectingOutcomes()
    for outcome in try await list.run().get() {
      #expect(outcome.result != nil || outcome.error is PermitError, "seed \(seed): \(outcome)")
    }
    #expect(program.areAllBack, "seed \(seed)")
  }

  @Test(arguments: 0..<60)
  func `E2: operations that are cancelled at any time end, and release all permits`(seed: UInt64)
    async throws
  {
    var program = PermitProgram(seed: seed, isOrdered: false)
    let runs = (0..<30).map { _ in program.operation().start() }
    for run in runs where Bool.random(using: &program.randomness) { run.cancel() }
    for run in runs {
      let outcome = await run.outcome
      #expect(outcome.error == nil || outcome.error is PermitError, "seed \(seed): \(outcome)")
    }
    #expect(program.areAllBack, "seed \(seed)")
  }
}

private struct PermitProgram {
  let permits = (0..<5).map { Permits($0 % 3 + 1, name: "permits \($0)") }
  let isOrdered: Bool
  var randomness: OperationRandomness

  init(seed: UInt64, isOrdered: Bool) {
    self.isOrdered = isOrdered
    randomness = .seeded(seed)
  }

  var areAllBack: Bool { permits.allSatisfy { $0.leftCount == $0.count && $0.waitingCount == 0 } }

  /// Returns an operation that takes permits, yields, and runs another operation that takes
  /// permits.
  ///
  /// - Parameter first: The index of the first permits that may be taken in the ordered case.
  mutating func operation(from first: Int = 0, levels: Int = 3) -> AnyOperation<Int> {
    let pauses = Int.random(in: 0..<3, using: &randomness)
    guard levels > 0, first < permits.count else {
      return AnyOperation(
        SimpleOperation {
          for _ in 0..<pauses { await Task.yield() }
          return 1
        })
    }
    var taken = Set<Int>()
    for _ in 0..<Int.random(in: 1...2, using: &randomness) {
      taken.insert(Int.random(in: (isOrdered ? first : 0)..<permits.count, using: &randomness))
    }
    let inner = operation(from: (taken.max() ?? 0) + 1, levels: levels - 1)
    let body = SimpleOperation<Int>.withContext { context in
      for _ in 0..<pauses { await Task.yield() }
      return try await context.run(inner) + 1
    }
    let several = taken.sorted()
    if several.count == 2, Bool.random(using: &randomness) {
      return AnyOperation(body.exclusive(in: permits[several[0]], permits[several[1]]))
    }
    // The first permits are taken first, so their modifier is the outermost.
    return several.reversed().reduce(AnyOperation(body)) { operation, index in
      // Sometimes a barrier, otherwise one permit.
      Bool.random(using: &randomness)
        ? AnyOperation(operation.exclusive(in: permits[index]))
        : AnyOperation(operation.limited(by: permits[index]))
    }
  }
}
