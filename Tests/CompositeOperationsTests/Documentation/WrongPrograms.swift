/// Functions with one error each, at the line that ends in `// error`.
///
/// Most have another operation in an `AnyOperation` beside the error: with an initializer of
/// `AnyOperation` that takes an existential, swiftc 6.3.1 crashed on such an error in a list. In
/// lists of existentials with a known result type, it had no diagnostic for an operation with
/// another one.
let wrongPrograms = #"""
  import CompositeOperations

  let leaf = SimpleOperation { 1 }
  let text = SimpleOperation { "x" }
  let erased = AnyOperation(leaf)
  let existential: any ComposableOperation<Int> = leaf
  let permits = Permits(1, name: "permits")
  let pool = OperationPool()
  let shares = SharedRuns<Int, Int>()

  // MARK: Lists

  func list() {
    _ = ParallelOperation([
      AnyOperation(erased.exclusive(in: 5)),  // error
      AnyOperation(SimpleOperation { 1 }),
    ])
  }

  func listOfExistentials() {
    _ = ParallelOperation([
      AnyOperation(SimpleOperation { 1 }),
      leaf.timingOut(after: 1),  // error
      existential,
    ])
  }

  func listWithUnknownType() {
    _ = ParallelOperation([
      AnyOperation(SimpleOperation { 1 }), leaf,
      AnyOperation(Missing()),  // error
    ])
  }

  func listWithNumber() {
    _ = ParallelOperation([AnyOperation(SimpleOperation { 1 }), existential, 5])  // error
  }

  func listOfTypes() {
    _ = ParallelOperation([AnyOperation(SimpleOperation { 1 }), text])  // error
  }

  func nestedList() {
    _ = ParallelOperation([
      ParallelOperation([AnyOperation(SimpleOperation { 1 })]),
      ParallelOperation([erased.exclusive(in: 5)]),  // error
    ])
  }

  func widthOfList() {
    _ = ParallelOperation(
      [AnyOperation(SimpleOperation { 1 })],
      width: 3)  // error
  }

  func failureModeOfList() {
    _ = ParallelOperation(
      [AnyOperation(SimpleOperation { 1 }), existential],
      onFailure: .never)  // error
  }

  func children() {
    _ = ParallelOperation(
      AnyOperation(SimpleOperation { 1 }),
      erased.exclusive(in: 5))  // error
  }

  func growing() {
    _ = ParallelOperation(growing: [
      erased.exclusive(in: 5),  // error
      AnyOperation(SimpleOperation { 1 }),
    ])
  }

  func closureInList() {
    _ = ParallelOperation([
      AnyOperation { 1 },  // error
      leaf,
    ])
  }

  func race() {
    _ = RaceOperation([
      AnyOperation(SimpleOperation { 1 }),
      erased.exclusive(in: 5),  // error
    ])
  }

  func raceOfTypes() {
    _ = RaceOperation([AnyOperation(SimpleOperation { 1 }), text])  // error
  }

  func raceOfKnownType() {
    _ = RaceOperation<Int>([leaf.map { "\($0)" }, AnyOperation(leaf)])  // error
  }

  func nestedRace() {
    _ = ParallelOperation([
      RaceOperation([
        AnyOperation(SimpleOperation { 1 }),
        leaf.map { $0.count },  // error
      ])
    ])
  }

  func fallbacks() {
    _ = leaf.fallingBack(toEachOf: [
      AnyOperation(SimpleOperation { 1 }),
      AnyOperation(leaf.retrying(attempts: "3")),  // error
    ])
  }

  func fallbacksOfTypes() {
    _ = leaf
      .named("x")
      .fallingBack(toEachOf: [SimpleOperation { "x" }, AnyOperation(leaf)])  // error
      .named("y")
  }

  func fallback() {
    _ = AnyOperation(SimpleOperation { 1 }).fallingBack(to: text)  // error
  }

  // MARK: Sequences

  func linearList() {
    _ = LinearSequence([
      AnyOperation(SimpleOperation { 1 }),
      erased.exclusive(in: 5),  // error
    ])
  }

  func linearSteps() {
    _ = LinearSequence(
      AnyOperation(SimpleOperation { 1 }),
      SimpleOperation { missing })  // error
  }

  func linearBuilders() {
    _ = LinearSequence(
      { _ in AnyOperation(SimpleOperation { 1 }) },
      { _ in erased.exclusive(in: 5) })  // error
  }

  func sequentialList() {
    _ = SequentialOperation(
      .linear([
        AnyOperation(SimpleOperation { 1 }),
        leaf.exclusive(by: permits),  // error
      ]))
  }

  func sequentialSteps() {
    _ = SequentialOperation(
      .linear(
        AnyOperation(SimpleOperation { 1 }),
        5))  // error
  }

  func sequence() {
    _ = ClosureSequence { previous in
      if previous == nil { return AnyOperation(SimpleOperation { 1 }) }
      return erased.exclusive(in: 5)  // error
    }
  }

  // MARK: Graphs

  func graph() {
    _ = OperationGraph { graph in
      let one = graph.add(AnyOperation(SimpleOperation { 1 }))
      let two = graph.add(erased.exclusive(in: 5))  // error
      return graph.add(needing: one, two) { one, two in SimpleOperation { one + two } }
    }
  }

  func graphNode() {
    _ = OperationGraph { graph in
      let one = graph.add(AnyOperation(SimpleOperation { 1 }))
      return graph.add(needing: one) { one in AnyOperation(SimpleOperation { one + "x" }) }  // error
    }
  }

  func graphInput() {
    _ = OperationGraph { graph in
      let one = graph.add(AnyOperation(SimpleOperation { 1 }))
      return graph.add(needing: missing) { _ in leaf }  // error
    }
  }

  // MARK: Other parameters

  func poolPriority() {
    pool.submitNow(
      AnyOperation(SimpleOperation { 1 }),
      priority: 5)  // error
  }

  func poolOperation() {
    pool.submitNow(AnyOperation(erased.exclusive(in: 5)))  // error
  }

  func submitted() {
    _ = AnyOperation(SimpleOperation { 1 }).submitted(to: permits)  // error
  }

  func existentialChain() {
    _ = existential
      .named("x")
      .exclusive(in: 5)  // error
  }

  func retryWithAnother() {
    _ = leaf.retrying(upTo: 3) { _ in
      .retry(with: text)  // error
    }
  }

  func retryDelay() {
    _ = leaf.retrying(upTo: 3) { _ in
      .retry(after: 3, with: AnyOperation(SimpleOperation { 1 }))  // error
    }
  }

  func contextRun() {
    _ = SimpleOperation.withContext { context in
      try await context.run(AnyOperation(erased.exclusive(in: 5)))  // error
    }
  }

  func condition() {
    _ = leaf.requiring(
      Condition(AnyOperation(SimpleOperation { true })),
      Condition(erased))  // error
  }

  func conditionOperation() {
    _ = leaf
      .named("x")
      .requiring(AnyOperation(SimpleOperation { true }))  // error
      .named("y")
  }

  func conditionList() {
    _ = Condition.all(
      Condition(AnyOperation(SimpleOperation { true })),
      Condition(leaf.exclusive(in: 5)))  // error
  }

  func thenThrowing() {
    _ = AnyOperation(SimpleOperation { 1 })
      .then { _ in throw CancellationError() }  // error
      .named("x")
  }

  func thenWithoutOperation() {
    _ = AnyOperation(SimpleOperation { 1 })
      .then { number in number + 1 }  // error
      .then { number in SimpleOperation { number + 1 } }
  }

  func branches() {
    _ = leaf.then { number in
      if number > 1 {
        AnyOperation(SimpleOperation { 1 })
      } else {
        erased.exclusive(in: 5)  // error
      }
    }
  }

  func erasedType() {
    let operation: AnyOperation<String> = AnyOperation(SimpleOperation { 1 })  // error
    _ = operation
  }

  func erasedChoice() {
    let operation: AnyOperation<Int> =
      true
      ? AnyOperation(SimpleOperation { 1 })
      : AnyOperation(erased.exclusive(in: 5))  // error
    _ = operation
  }

  func sharedKey() {
    _ = AnyOperation(SimpleOperation { 1 })
      .shared(
        in: shares,
        for: "x")  // error
  }
  """#
