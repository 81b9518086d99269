import CompositeOperations
import DurableOperations
import DurableOperationsTestKit
import Testing

/// Runs of a program whose module `Shop` had the types `Pay`, `Receipt` and `Refusal`, and the flow `Shopping`.
@Suite struct RenamingTests {
  private static var options: RunStoreOptions {
    var options = RunStoreOptions()
    options.aliases = [
      "Shop.Pay": Charge.self, "Shop.Receipt": Proof.self, "Shop.Refusal": ChargeError.self,
      "Shopping": Renamed.self,
    ]
    return options
  }

  /// Starts a run under the former name of its flow, and claims it.
  private func claim(_ test: TestStore) async throws -> ClaimToken {
    let state = try JSONRunCoder().encode(Renamed())
    _ = try await test.store.backend.insert(NewRun(id: "r", flow: "Shopping", state: state))
    guard case .claimed(let claim) = try await test.store.backend.claim("r") else {
      throw CodableError(code: 409)
    }
    return claim.token
  }

  /// A run whose first step has ended, as the former program has stored it.
  private func finishStep(_ test: TestStore, _ end: FormerEnd) async throws {
    let token = try await claim(test)
    let types = StepTypes(
      operations: ["DurableOperations.JournaledOperation<Shop.Pay>", "Shop.Pay"],
      success: "Swift.Array<Shop.Receipt>")
    try await test.store.backend.append(
      StoredStep(
        position: 0, name: "Pay", types: types, mangledName: "4Shop3PayV",
        kind: end == .result ? .result : .error, value: end.rawValue, fence: 1, began: 0, ended: 0),
      dropping: 0..<0, hasKeys: false, by: token)
    try await test.store.backend.release(by: token)
  }

  enum FormerEnd: String, CaseIterable {
    case result = #"[{"number":7}]"#
    case error = #"{"type":"Shop.Refusal","value":"{\"limit\":7}","description":"refused"}"#
  }

  @Test(arguments: FormerEnd.allCases)
  func `J20: flows, steps, results and errors are found by their former names`(
    end: FormerEnd
  ) async throws {
    let test = TestStore(nil, Self.options)
    try await finishStep(test, end)
    _ = try await test.attempt("r", of: Renamed.self)
    #expect(try await test.outcome(of: Renamed.self).get() == [7, 1])
    // The same start, under the name of today.
    #expect(try await test.store.start(Renamed(), named: "r").isNew == false)
    let check = DeploymentCheck(of: [Renamed.self], in: [.result])
    #expect(try await check.differences(in: test.store) == [])
    try await test.store.start(Renamed(), named: "new")
    #expect(try await test.store.runs(of: "Renamed").map(\.id.text).sorted() == ["new", "r"])
    #expect(try await test.store.runs(of: "Shopping").map(\.id) == ["r"])
    #expect(try await test.store.runs(of: "Pay").isEmpty)
  }

  @Test func `J20: without its former name, a step makes the run stuck, and a flow is another one`()
    async throws
  {
    let test = TestStore()
    try await finishStep(test, .result)
    let other = await #expect(throws: DurableRunError.self) {
      try await test.store.start(Renamed(), named: "r")
    }
    #expect(other?.isNameInUse == true)
    _ = try await test.attempt("r", of: Renamed.self)
    #expect(try await test.row().reason == Self.noType)
  }

  private static let noType = """
    this program has no type DurableOperations.JournaledOperation<Shop.Pay>, of which step 0, Pay, is; if a type in this \
    name was renamed, add its former name to `aliases` of the store
    """

  @Test func `J21: a step whose type is missing is stuck, also if the one of its result is not`()
    async throws
  {
    var options = RunStoreOptions()
    options.aliases = ["Shop.Receipt": Proof.self, "Shopping": Renamed.self]
    let test = TestStore(nil, options)
    try await finishStep(test, .result)
    _ = try await test.attempt("r", of: Renamed.self)
    #expect(try await test.row().reason == Self.noType)
  }

  @Test func `J20: a worker runs flows under their former names`() async throws {
    let test = TestStore(nil, Self.options)
    try await finishStep(test, .result)
    let worker = DurableWorker(in: test.store, running: [Renamed.self]).start()
    let run = try await test.store.start(Renamed(), named: "r")
    #expect(try await run.outcome.get() == [7, 1])
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `J20: a step in progress keeps its parts and its keys when its type is renamed`()
    async throws
  {
    let test = TestStore(nil, Self.options)
    let token = try await claim(test)
    try await test.store.backend.store(
      key: StoredStep(
        position: 0, key: "card", name: "Pay", kind: .result, value: #"[{"number":8}]"#,
        fence: 1, began: 0, ended: 0), by: token)
    try await test.store.backend.release(by: token)
    try await Effects.recorded { effects in
      _ = try await test.attempt("r", of: Renamed.self)
      #expect(try await test.outcome(of: Renamed.self).get() == [8, 1])
      // The first step did not run again, and the second one has the key of the former name.
      #expect(effects.all.map(\.key) == ["r/1.Pay/card"])
    }
  }

  @Test func `J20: a former name in a generic type keeps the parts and the key of the step`()
    async throws
  {
    var options = RunStoreOptions()
    options.aliases = ["Shop.Receipt": Proof.self]
    let test = TestStore(nil, options)
    try await test.interrupt(
      Generic(), afterStoring: "5", as: .result, under: "first", ofStep: "Sum<Receipt>")
    try await Effects.recorded { effects in
      _ = try await test.attempt("r", of: Generic.self)
      #expect(effects.all.map(\.key) == ["r/0.Sum<Receipt>/second"])
      #expect(try await test.outcome(of: Generic.self).get() == 6)
    }
  }

  @Test func `J20: a renamed flow that is a child is not started again`() async throws {
    let test = TestStore(nil, Self.options)
    let backend = test.store.backend
    _ = try await backend.start(ParentOfRenamed(), named: "r")
    let child: RunID = "r/0.Shopping"
    let state = try JSONRunCoder().encode(Renamed())
    _ = try await backend.insert(NewRun(id: child, flow: "Shopping", state: state, parent: "r"))
    guard case .claimed(let claim) = try await backend.claim(child) else {
      throw CodableError(code: 409)
    }
    try await backend.end(by: claim.token, "[5]", as: .result, sequence: nil)
    _ = try await test.attempt("r", of: ParentOfRenamed.self)
    #expect(try await test.outcome(of: ParentOfRenamed.self).get() == [5])
    #expect(try await test.store.runs().count == 2)
  }

  @Test func `J20: a step in progress without stored parts has the key of its oldest name`()
    async throws
  {
    for (aliases, key) in [
      (["Shop.Pay": Charge.self], "r/0.Pay.map"),
      (["Old.Debit": Charge.self, "Shop.Pay": Charge.self], "r/0.Debit.map"),
      ([:], "r/0.Charge.map"),
    ] as [(KeyValuePairs<String, any Any.Type>, String)] {
      var options = RunStoreOptions()
      options.aliases = aliases
      let test = TestStore(nil, options)
      try await Effects.recorded { effects in
        _ = try await test.run(Mapped())
        #expect(effects.all.map(\.key) == [key])
      }
    }
  }

  @Test func `J20: parts that were stored under today's name keep it when an alias is added`()
    async throws
  {
    let first = TestStore()
    try await first.interrupt(
      Keyed(), afterStoring: "5", as: .result, under: "first", ofStep: "KeyedSum")
    var options = RunStoreOptions()
    options.aliases = ["Shop.Sum": KeyedSum.self]
    let test = TestStore(nil, options)
    try await test.interrupt(
      Keyed(), afterStoring: "5", as: .result, under: "first", ofStep: "KeyedSum")
    for (store, key) in [(first, "r/0.KeyedSum/second"), (test, "r/0.KeyedSum/second")] {
      try await Effects.recorded { effects in
        _ = try await store.attempt("r", of: Keyed.self)
        #expect(effects.all.map(\.key) == [key])
        #expect(try await store.outcome(of: Keyed.self).get() == 6)
      }
    }
  }
}

private struct ParentOfRenamed: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? ChildFlow(Renamed()) : nil
  }

  func output(of steps: FinishedSteps) -> [Int] { steps.last?.result(as: [Int].self) ?? [] }
}

private struct Mapped: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Charge().map { $0.count } : nil
  }
}

struct KeyedSum: ComposableOperation {
  func perform(in context: OperationContext) async throws -> Int {
    let first = try await context.run(Note("first", 5).journaled(as: "first"))
    return try await context.run(Note("second", 1).journaled(as: "second")) + first
  }
}

private struct Keyed: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? KeyedSum() : nil
  }

  func output(of steps: FinishedSteps) -> Int { steps.last(of: KeyedSum.self) ?? 0 }
}

private struct Renamed: DurableSequence {
  var numbers: [Int] = []

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if let proofs = previous?.result(of: Charge.self) { numbers += proofs.map(\.number) }
    if let error = previous?.error as? ChargeError { numbers.append(error.limit) }
    return numbers.count < 2 ? Charge().journaled(as: "card") : nil
  }

  func output(of steps: FinishedSteps) -> [Int] { numbers }
}

struct Charge: ComposableOperation {
  func perform(in context: OperationContext) async throws -> [Proof] {
    Effects.current?.add("charge", context)
    return [Proof(number: 1)]
  }
}

struct Proof: Codable { let number: Int }

struct ChargeError: Error, Codable { let limit: Int }

private struct Generic: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Sum() : nil
  }

  func output(of steps: FinishedSteps) -> Int { steps.last?.result(as: Int.self) ?? 0 }

  struct Sum: ComposableOperation {
    var operationName: String { "Sum<Proof>" }

    func perform(in context: OperationContext) async throws -> Int {
      let first = try await context.run(Note("first", 5).journaled(as: "first"))
      return try await context.run(Note("second", 1).journaled(as: "second")) + first
    }
  }
}
