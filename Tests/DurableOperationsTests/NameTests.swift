import CompositeOperations
import DurableOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct NameTests {
  @Test func `J13: the same name, flow and state are the same run`() async throws {
    let store = RunStore.test()
    let first = try await store.start(Sum(count: 1), named: "r")
    let second = try await store.start(Sum(count: 1), named: "r")
    #expect(first.isNew && !second.isNew)
    _ = try await DurableOperation(Sum(count: 1), named: "r", in: store).run().get()
    // The state has changed since; the initial one counts.
    #expect(try await store.start(Sum(count: 1), named: "r").isNew == false)
    #expect(try await second.outcome.get() == 1)
  }

  @Test func `J13: another state or another flow under the name is an error`() async throws {
    let store = RunStore.test()
    try await store.start(Sum(count: 1), named: "r")
    let state = await #expect(throws: DurableRunError.self) {
      try await store.start(Sum(count: 2), named: "r")
    }
    #expect(state == DurableRunError("r", .exists(flow: "Sum", isSameFlow: true)))
    let flow = await #expect(throws: DurableRunError.self) {
      try await store.start(Single(.note), named: "r")
    }
    #expect(flow == DurableRunError("r", .exists(flow: "Sum", isSameFlow: false)))
  }

  @Test(arguments: [
    ("", "it is empty"), (String(repeating: "n", count: 10_000), "200"),
    ("a\u{0}b", "control character"), ("a\u{1B}[31mb", "control character"),
    ("a\nb", "control character"),
  ])
  func `invalid names are refused, with the problem`(name: String, problem: String) async throws {
    let error = await #expect(throws: RunStoreError.self) {
      try await RunStore.test().start(Sum(count: 1), named: RunID(name))
    }
    #expect(error?.reason == .invalidName)
    let description = error?.description ?? ""
    #expect(description.contains(problem), "\(description)")
    #expect(description.utf8.count < 500)
    #expect(description.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
  }

  @Test(arguments: ["a", "order 7/2", "Grün", "👍", "x'; DROP TABLE run"])
  func `valid names are taken`(name: String) async throws {
    let store = RunStore.test()
    let flow = DurableOperation(Sum(count: 1), named: RunID(name), in: store)
    #expect(try await flow.run().get() == 1)
    #expect(try await store.runs().map(\.id.text) == [name])
  }

  @Test func `runs are listed by flow and state, the newest first, page by page`() async throws {
    let test = TestStore()
    for number in 0..<5 {
      try await test.store.start(Sum(count: number), named: "s\(number)")
      test.time.pass(.seconds(1))
    }
    _ = try await test.run(Single(.note), "single")
    let all = try await test.store.runs().map(\.id.text)
    #expect(all == ["single", "s4", "s3", "s2", "s1", "s0"])
    #expect(try await test.store.runs(of: "Single").map(\.id) == ["single"])
    #expect(try await test.store.runs(in: [.result]).map(\.id) == ["single"])
    let part = try await test.store.runs(RunSelection(text: "S", limit: 2)).map(\.id)
    #expect(part == ["single", "s4"])
    #expect(try await test.store.runs(RunSelection(text: "4")).map(\.id) == ["s4"])
    let counts = try await test.store.counts()
    #expect(counts.map(\.count).reduce(0, +) == 6)
    #expect(counts.contains(RunCount(flow: "Single", state: .result, count: 1)))
    #expect(
      try await test.store.counts(of: RunSelection(text: "NGL")).map(\.flow)
        == ["Single"])
    #expect(try await test.store.counts(of: RunSelection(text: "%")).isEmpty)
    var pages: [[String]] = []
    var last: RunSummary?
    repeat {
      let page = try await test.store.runs(limit: 2, after: last)
      pages.append(page.map(\.id.text))
      last = page.last
    } while last != nil
    #expect(pages == [["single", "s4"], ["s3", "s2"], ["s1", "s0"], []])
  }

  // PostgreSQL takes the times of runs from its own clock; `ListTests` select by them.
  @Test(.enabled(if: TestServer.isAbsent))
  func `runs are selected by how long ago they began`() async throws {
    let test = TestStore()
    for number in 0..<5 {
      try await test.store.start(Sum(count: number), named: "s\(number)")
      test.time.pass(.seconds(1))
    }
    let recent = test.store.selection(of: nil, in: [], startedWithin: .seconds(2))
    #expect(try await test.store.runs(recent).map(\.id) == ["s4", "s3"])
    #expect(try await test.store.counts(of: recent).map(\.count).reduce(0, +) == 2)
  }

  // `ListTests` compare the totals of PostgreSQL with its runs.
  @Test(.enabled(if: TestServer.isAbsent))
  func `A15: the totals have counts, ages and durations by flow and state`() async throws {
    let test = TestStore()
    #expect(try await test.store.totals().isEmpty)
    try await test.store.start(Sum(count: 1), named: "first")
    test.time.pass(.seconds(5))
    try await test.store.start(Sum(count: 1), named: "second")
    // Waits for an hour at most.
    try await test.store.start(Single(.limitedEvent), named: "waits")
    _ = try await test.attempt("waits", of: Single.self)
    _ = try await test.run(Single(.note), "ends")
    func totals() async throws -> [String] {
      try await test.store.totals().map {
        "\($0.flow) \($0.state) \($0.count): \($0.age / 1_000) \($0.durations / 1_000)"
      }
    }
    #expect(
      try await totals() == ["Single parked 1: 0 0", "Single result 1: 0 0", "Sum ready 2: 5 0"])
    test.time.pass(.seconds(90))
    _ = try await test.attempt("first", of: Sum.self)
    // Its time has come 30 seconds ago.
    #expect(
      try await totals() == [
        "Single ready 1: 30 0", "Single result 1: 90 0", "Sum ready 1: 90 0",
        "Sum result 1: 0 95",
      ])
  }
}
