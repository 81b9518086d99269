import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct PermitCircleTests {
  @Test(arguments: [false, true])
  func `E4: a request for permits that an ancestor holds throws immediately`(isObserved: Bool)
    async throws
  {
    let environment = OperationEnvironment(observers: isObserved ? [RecordingObserver()] : [])
    let lock = Permits(1, name: "lock")
    let four = Permits(4, name: "four")
    let inner = SimpleOperation { 7 }
    let nested: [any ComposableOperation<Int>] = [
      SimpleOperation.withContext { context in try await context.run(inner.exclusive(in: lock)) }
        .exclusive(in: lock),
      // Nested in composites.
      SimpleOperation.withContext { context in
        let list = ParallelOperation([inner.exclusive(in: lock)])
        let sequence = SequentialOperation(LinearSequence([list.map { $0[0] }]))
        return try await context.run(sequence.map { _ in 7 })
      }.exclusive(in: lock),
      // Both together need five of four permits.
      SimpleOperation.withContext { context in
        try await context.run(inner.limited(by: four, taking: 3))
      }
      .limited(by: four, taking: 2),
    ]
    for (index, operation) in nested.enumerated() {
      let error = await operation.run(in: environment).firstPermitError
      #expect(error?.reason == .heldByAncestor, "\(index)")
      #expect(error?.wanted == [index == 2 ? "four" : "lock"])
      #expect(
        error?.description.contains("is held by an enclosing operation until it ends") == true)
    }
    // Two and two of four permits are granted.
    let both = SimpleOperation.withContext { context in
      try await context.run(inner.limited(by: four, taking: 2))
    }.limited(by: four, taking: 2)
    #expect(await both.run(in: environment).result == 7)
    #expect(lock.leftCount == 1 && four.leftCount == 4)
  }

  @Test func `E4: a sibling of the holder waits for the permits`() async throws {
    let lock = Permits(1)
    let inner = SimpleOperation { 7 }.exclusive(in: lock)
    let clock = ManualClock()
    // With an environment other than the default one, the siblings share a scope.
    let outcome = await ParallelOperation([inner, inner, inner])
      .run(in: OperationEnvironment(clock: clock))
    #expect(outcome.result == [7, 7, 7])
  }

  @Test(arguments: [false, true])
  func `E4: a request that would complete a cycle throws immediately, and the others continue`(
    isObserved: Bool
  )
    async throws
  {
    let environment = OperationEnvironment(observers: isObserved ? [RecordingObserver()] : [])
    for count in 2...5 {
      let locks = (0..<count).map { Permits(1, name: "lock \($0)") }
      let gates = (0..<count).map { _ in Gate() }
      // Each run holds one lock and then requests the next one.
      let runs = (0..<count).map { index in
        SimpleOperation<Int>.withContext { context in
          try await gates[index].pass()
          let next = SimpleOperation { index }.exclusive(in: locks[(index + 1) % count])
          return try await context.run(next)
        }.exclusive(in: locks[index]).start(in: environment)
      }
      for gate in gates { await gate.waitForArrivals(1) }
      for index in 0..<(count - 1) {
        gates[index].open()
        await locks[index + 1].waitForQueue(of: 1)
      }
      gates[count - 1].open()
      let error = await runs[count - 1].outcome.error as? PermitError
      #expect(error?.reason == .deadlock)
      #expect(error?.wanted == ["lock 0"])
      #expect(error?.held == ["lock \(count - 1)"])
      for index in 0..<(count - 1) { #expect(await runs[index].outcome.result == index) }
      #expect(locks.allSatisfy { $0.leftCount == 1 })
    }
  }

  @Test func `E4: a cycle through a queue and through permits with several holders is detected`()
    async throws
  {
    let lock = Permits(1, name: "lock")
    let pair = Permits(2, name: "pair")
    let gates = (0..<4).map { _ in Gate() }
    // One run holds both permits of the pair, another one holds the lock.
    let holder = SimpleOperation<Int>.withContext { context in
      try await gates[0].pass()
      return try await context.run(SimpleOperation { 0 }.exclusive(in: lock))
    }.exclusive(in: pair).start()
    await gates[0].waitForArrivals(1)
    let other = SimpleOperation<Int>.withContext { context in
      try await gates[1].pass()
      return try await context.run(SimpleOperation { 1 }.limited(by: pair))
    }.exclusive(in: lock).start()
    await gates[1].waitForArrivals(1)
    // Waits for both together, in front of the other requests.
    let both = SimpleOperation { 2 }.exclusive(in: pair, lock).start()
    await lock.waitForQueue(of: 1)
    gates[0].open()
    await lock.waitForQueue(of: 2)
    gates[1].open()
    let error = await other.outcome.error as? PermitError
    #expect(error?.reason == .deadlock && error?.wanted == ["pair"] && error?.held == ["lock"])
    #expect(await both.outcome.result == 2)
    #expect(await holder.outcome.result == 0)
  }

  @Test func `E4: a request that waits for a holder is overtaken by requests below that holder`()
    async throws
  {
    let (outer, inner) = (Permits(1, name: "outer"), Permits(1, name: "inner"))
    let began = Log<String>()
    let gates = [Gate(), Gate()]
    let nested = SimpleOperation<Int>.withContext { context in
      try await gates[0].pass()
      let child = SimpleOperation {
        began.add("nested")
        return 1
      }
      return try await context.run(child.exclusive(in: inner))
    }.exclusive(in: outer).start()
    let holder = SimpleOperation { try await gates[1].pass() }.exclusive(in: inner).start()
    for gate in gates { await gate.waitForArrivals(1) }
    // Waits for both, in front of the request of the holder's child.
    let both = SimpleOperation { began.add("both") }.exclusive(in: outer, inner).start()
    await inner.waitForQueue(of: 1)
    gates[0].open()
    await inner.waitForQueue(of: 2)
    gates[1].open()
    #expect(await nested.outcome.result == 1)
    for run in [both, holder] { _ = try await run.outcome.get() }
    #expect(began.entries == ["nested", "both"])
  }

  @Test func `E1: a request that has let others pass is not overtaken by later requests`()
    async throws
  {
    let (outer, pair) = (Permits(1, name: "outer"), Permits(2, name: "pair"))
    let began = Log<String>()
    let gates = (0..<4).map { _ in Gate() }
    let nested = SimpleOperation<Void>.withContext { context in
      try await gates[0].pass()
      let child = SimpleOperation { try await gates[1].pass() }
      try await context.run(child.limited(by: pair))
    }.exclusive(in: outer).start()
    let holders = (2...3).map { gate in
      SimpleOperation { try await gates[gate].pass() }.limited(by: pair).start()
    }
    for gate in [gates[0], gates[2], gates[3]] { await gate.waitForArrivals(1) }
    let both = SimpleOperation { began.add("both") }.exclusive(in: outer, pair).start()
    await pair.waitForQueue(of: 1)
    gates[0].open()
    await pair.waitForQueue(of: 2)
    // The nested request may overtake it now, and no other request may.
    let late = SimpleOperation { began.add("late") }.limited(by: pair).start()
    await pair.waitForQueue(of: 3)
    gates[2].open()
    await gates[1].waitForArrivals(1)
    gates[3].open()
    _ = try await holders[1].outcome.get()
    #expect(began.entries == [])
    gates[1].open()
    for run in [nested, both, late, holders[0]] { _ = try await run.outcome.get() }
    #expect(began.entries == ["both", "late"])
  }

  @Test func `E4: no request is refused while enough permits can still be released`() async throws {
    let pair = Permits(2, name: "pair")
    let lock = Permits(1, name: "lock")
    let gates = (0..<3).map { _ in Gate() }
    // Holds one permit of the pair, and its child waits for the lock.
    let first = SimpleOperation<Int>.withContext { context in
      try await gates[0].pass()
      return try await context.run(SimpleOperation { 1 }.exclusive(in: lock))
    }.limited(by: pair).start()
    // Holds the other permit, and waits for nothing.
    let free = SimpleOperation<Int> {
      try await gates[1].pass()
      return 2
    }.limited(by: pair).start()
    // Holds the lock, and its child waits for one permit of the pair, which the second run
    // releases.
    let second = SimpleOperation<Int>.withContext { context in
      try await gates[2].pass()
      return try await context.run(SimpleOperation { 3 }.limited(by: pair))
    }.exclusive(in: lock).start()
    for gate in gates { await gate.waitForArrivals(1) }
    gates[0].open()
    await lock.waitForQueue(of: 1)
    gates[2].open()
    await pair.waitForQueue(of: 1)
    gates[1].open()
    #expect(await free.outcome.result == 2)
    #expect(await second.outcome.result == 3)
    #expect(await first.outcome.result == 1)
  }

  @Test func `E4: an operation that is run through a kept context is below no permits`()
    async throws
  {
    let lock = Permits(1)
    let kept = Log<OperationContext>()
    for observers in [[], [RecordingObserver()]] {
      _ = await SimpleOperation.withContext { context in kept.add(context) }.exclusive(in: lock)
        .run(in: OperationEnvironment(observers: observers))
    }
    for context in kept.entries {
      let gate = Gate()
      let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).start()
      await gate.waitForArrivals(1)
      async let outcome = context.outcome(of: SimpleOperation { 7 }.exclusive(in: lock))
      await lock.waitForQueue(of: 1)
      gate.open()
      #expect(await outcome.result == 7)
      _ = try await holder.outcome.get()
    }
    kept.clear()
  }

  @Test(arguments: [false, true])
  func `E4: nested permits that are taken through a kept context are below no hold`(
    isObserved: Bool
  ) async throws {
    let (lock, other) = (Permits(1), Permits(1))
    let kept = Log<OperationContext>()
    let environment = OperationEnvironment(observers: isObserved ? [RecordingObserver()] : [])
    _ = await SimpleOperation.withContext { context in kept.add(context) }.exclusive(in: lock)
      .run(in: environment)
    let context = try #require(kept.entries.first)
    let gate = Gate()
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).start()
    await gate.waitForArrivals(1)
    let inner = SimpleOperation { 7 }.exclusive(in: lock)
    let outer = SimpleOperation.withContext { context in try await context.run(inner) }.exclusive(
      in: other)
    async let outcome = context.outcome(of: outer)
    await lock.waitForQueue(of: 1)
    gate.open()
    #expect(await outcome.result == 7)
    _ = try await holder.outcome.get()
    kept.clear()
  }

  @Test func `E4: a run that was started separately waits for the permits`() async throws {
    let lock = Permits(1)
    let inner = SimpleOperation { 7 }.exclusive(in: lock)
    let started = await SimpleOperation { inner.start() }.exclusive(in: lock).run().result
    #expect(await started?.outcome.result == 7)
  }

  @Test func `observers see an operation with permits as one run`() async {
    let recorder = RecordingObserver()
    let inner = SimpleOperation.withContext { context in
      try await context.run(SimpleOperation { 7 }.named("child"))
    }
    .named("inner")
    let operation = inner.observed(by: recorder).exclusive(in: Permits(1)).limited(by: Permits(2))
    #expect(await operation.run().result == 7)
    #expect(
      recorder.short == [
        "inner created", "inner started", "inner started a child", "child created",
        "child started", "child ended: result 7", "inner ended: result 7",
      ])
    let names = recorder.events.map(\.path.description)
    #expect(Set(names) == ["inner", "inner/child"])
  }
}
