import CompositeOperations

extension TourStop {
  static let all = [
    outcomes, cancelRemaining, runAll, race, recovery, retry, timeout, resource, cancellation,
    composition, graph, pool,
  ]

  private static let outcomes = TourStop(
    title: "A run ends in a result, an error or a cancellation",
    code: """
      let good = SimpleOperation { 42 }
      let bad = SimpleOperation<Int> { throw NoNetwork() }
      let tired = SimpleOperation<Int> { throw CancellationError() }
      for operation in [good, bad, tired] {
        switch await operation.run() {
        case .result(let value): print("result: \\(value)")
        case .error(let error): print("error: \\(error)")
        case .cancelled: print("cancelled")
        }
      }
      """
  ) { print in
    let good = SimpleOperation { 42 }
    let bad = SimpleOperation<Int> { throw NoNetwork() }
    let tired = SimpleOperation<Int> { throw CancellationError() }
    for operation in [good, bad, tired] {
      switch await operation.run() {
      case .result(let value): print("result: \(value)")
      case .error(let error): print("error: \(error)")
      case .cancelled: print("cancelled")
      }
    }
  }

  private static let cancelRemaining = TourStop(
    title: "In parallel: the first failure cancels the others",
    code: """
      let pages = ["index", "slow", "missing"].map { FetchPage(name: $0) }
      let outcome = await ParallelOperation(pages, width: .limited(to: 2)).run()
      print("\\(outcome.error ?? NoNetwork())")
      for child in (outcome.error as? ParallelOperationError)?.children.map(\\.self) ?? [] {
        print("\\(child.name): \\(child.outcome), \\(child.origin)")
      }
      """
  ) { print in
    let pages = ["index", "slow", "missing"].map { FetchPage(name: $0) }
    let outcome = await ParallelOperation(pages, width: .limited(to: 2)).run()
    print("\(outcome.error ?? NoNetwork())")
    for child in (outcome.error as? ParallelOperationError)?.children.map(\.self) ?? [] {
      print("\(child.name): \(child.outcome), \(child.origin)")
    }
  }

  private static let runAll = TourStop(
    title: "In parallel: every child runs, and no outcome is lost",
    code: """
      let pages = ["index", "missing", "about"].map { FetchPage(name: $0) }
      let everyone = ParallelOperation(pages, width: .limited(to: 2))
      for outcome in try await everyone.collectingOutcomes().run().get() { print("\\(outcome)") }

      let (number, text) = try await ParallelOperation(
        SimpleOperation { 6 * 7 }, FetchPage(name: "about")
      ).run().get()
      print("\\(number) and \\(text)")
      """
  ) { print in
    let pages = ["index", "missing", "about"].map { FetchPage(name: $0) }
    let everyone = ParallelOperation(pages, width: .limited(to: 2))
    for outcome in try await everyone.collectingOutcomes().run().get() { print("\(outcome)") }

    let (number, text) = try await ParallelOperation(
      SimpleOperation { 6 * 7 }, FetchPage(name: "about")
    ).run().get()
    print("\(number) and \(text)")
  }

  private static let race = TourStop(
    title: "A race: the first result wins",
    code: """
      let mirrors = RaceOperation(["slow", "missing", "index"].map { FetchPage(name: $0) })
      print(try await mirrors.run().get())
      """
  ) { print in
    let mirrors = RaceOperation(["slow", "missing", "index"].map { FetchPage(name: $0) })
    print(try await mirrors.run().get())
  }

  private static let recovery = TourStop(
    title: "In sequence: each step is decided by the one before, and recovers from it",
    code: """
      let steps = SequentialOperation(
        ClosureSequence { previous in
          guard let previous else { return FetchPage(name: "missing") }
          if previous.error != nil { return FetchPage(name: "index") }
          return nil
        })
      for step in try await steps.run().get() { print("\\(step.name): \\(step.outcome)") }
      """
  ) { print in
    let steps = SequentialOperation(
      ClosureSequence { previous in
        guard let previous else { return FetchPage(name: "missing") }
        if previous.error != nil { return FetchPage(name: "index") }
        return nil
      })
    for step in try await steps.run().get() { print("\(step.name): \(step.outcome)") }
  }

  private static let retry = TourStop(
    title: "Retry: attempts are counted with the first one",
    code: """
      let attempts = Log()
      let flaky = SimpleOperation {
        attempts.add("attempt")
        if attempts.lines.count < 3 { throw NoNetwork() }
        return "worked"
      }
      let outcome = await flaky.retrying(attempts: 3).run()
      print("\\(outcome) after \\(attempts.lines.count) attempts")
      """
  ) { print in
    let attempts = Log()
    let flaky = SimpleOperation {
      attempts.add("attempt")
      if attempts.lines.count < 3 { throw NoNetwork() }
      return "worked"
    }
    let outcome = await flaky.retrying(attempts: 3).run()
    print("\(outcome) after \(attempts.lines.count) attempts")
  }

  private static let timeout = TourStop(
    title: "A timeout: cancels what takes too long, and another way can follow",
    code: """
      let slow = FetchPage(name: "slow").timingOut(after: .milliseconds(20))
      print("\\(await slow.run())")
      print(try await slow.fallingBack(to: FetchPage(name: "about")).run().get())
      """
  ) { print in
    let slow = FetchPage(name: "slow").timingOut(after: .milliseconds(20))
    print("\(await slow.run())")
    print(try await slow.fallingBack(to: FetchPage(name: "about")).run().get())
  }

  private static let resource = TourStop(
    title: "A resource: released once, however its use ends",
    code: """
      let connect = SimpleOperation { "a connection" }.onStart { print("open") }
      let isOnline = Condition("is online") { false }
      let page = using(connect, release: { print("close \\($0)") }) { connection in
        FetchPage(name: "index").requiring(isOnline)
      }
      print("\\(await page.run())")
      """
  ) { print in
    let connect = SimpleOperation { "a connection" }.onStart { print("open") }
    let isOnline = Condition("is online") { false }
    let page = using(connect, release: { print("close \($0)") }) { connection in
      FetchPage(name: "index").requiring(isOnline)
    }
    print("\(await page.run())")
  }

  private static let cancellation = TourStop(
    title: "Cancellation: reaches everything below, and what finished stays visible",
    code: """
      let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
      let slow = SimpleOperation.withContext { context in
        arrival.finish()
        return try await context.run(FetchPage(name: "slow"))
      }
      let run = SequentialOperation(.linear([FetchPage(name: "index"), slow.named("slow")])).start()
      for await _ in arrived {}
      run.cancel(because: "the tour continues")
      print("\\(await run.outcome)")
      if let evidence = await run.lateOutcome?.error as? SequentialOperationError {
        for step in evidence.steps { print("\\(step.name): \\(step.outcome)") }
      }
      """
  ) { print in
    let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
    let slow = SimpleOperation.withContext { context in
      arrival.finish()
      return try await context.run(FetchPage(name: "slow"))
    }
    let run = SequentialOperation(.linear([FetchPage(name: "index"), slow.named("slow")])).start()
    for await _ in arrived {}
    run.cancel(because: "the tour continues")
    print("\(await run.outcome)")
    if let evidence = await run.lateOutcome?.error as? SequentialOperationError {
      for step in evidence.steps { print("\(step.name): \(step.outcome)") }
    }
  }

  private static let composition = TourStop(
    title: "Composites are operations: everything nests",
    code: """
      let sizes = FetchPage(name: "index")
        .then { index in ParallelOperation(index.links.map { FetchPage(name: $0) }) }
        .map { pages in pages.map(\\.count) }
      print("\\(try await sizes.run().get())")
      """
  ) { print in
    let sizes = FetchPage(name: "index")
      .then { index in ParallelOperation(index.links.map { FetchPage(name: $0) }) }
      .map { pages in pages.map(\.count) }
    print("\(try await sizes.run().get())")
  }

  private static let graph = TourStop(
    title: "A graph: each node begins when the nodes that it needs have results",
    code: """
      let letter = OperationGraph { graph in
        let about = graph.add(FetchPage(name: "about"))
        let imprint = graph.add(FetchPage(name: "imprint"))
        return graph.add(needing: about, imprint) { about, imprint in
          SimpleOperation { "\\(about), then \\(imprint)" }
        }
      }
      print(try await letter.run().get())
      """
  ) { print in
    let letter = OperationGraph { graph in
      let about = graph.add(FetchPage(name: "about"))
      let imprint = graph.add(FetchPage(name: "imprint"))
      return graph.add(needing: about, imprint) { about, imprint in
        SimpleOperation { "\(about), then \(imprint)" }
      }
    }
    print(try await letter.run().get())
  }

  private static let pool = TourStop(
    title: "A pool: operations arrive over time, and share a limit",
    code: """
      let pool = OperationPool(width: .limited(to: 1))
      let first = pool.submitNow(FetchPage(name: "slow"))
      let second = pool.submitNow(FetchPage(name: "about"))
      let urgent = pool.submitNow(FetchPage(name: "index"), priority: .high)
      first.cancel()
      for run in [first, urgent, second] { print("\\(await run.outcome)") }
      """
  ) { print in
    let pool = OperationPool(width: .limited(to: 1))
    let first = pool.submitNow(FetchPage(name: "slow"))
    let second = pool.submitNow(FetchPage(name: "about"))
    let urgent = pool.submitNow(FetchPage(name: "index"), priority: .high)
    first.cancel()
    for run in [first, urgent, second] { print("\(await run.outcome)") }
  }
}
