internal import CompositeOperations
internal import DurableOperations
internal import Foundation
internal import PostgresOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct StoredTextTests {
  @Test(arguments: [
    "", "plain", "quotes \" and \\ and / and '", "tab\tand\nlines", "U+0000: \0.", "\0",
    "emoji 👩‍👩‍👧 and é", "{\"z\": \"AAAA\"}", "spaces  and: , {}", "\\u0000",
  ])
  func `K6: texts are returned as they were stored`(text: String) async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    let run = try await store.start(Echo(.text(text)), named: "r")
    let worker = DurableWorker(in: store, running: [Echo.self]).start()
    #expect(try await run.outcome.result == .text(text))
    // A process that reads it later.
    let details = try #require(try await queue.store().run("r"))
    let coder = JSONRunCoder()
    let value = try coder.decode(Value.self, from: details.steps.last?.value ?? "")
    #expect(value == .text(text))
    #expect(try coder.decode(Echo.self, from: details.sequence) == Echo(.text(text)))
    worker.cancel()
    _ = await worker.outcome
  }

  @Test(arguments: [
    Value.object(["z": "AAAA"]), .object(["z": ""]), .object(["z": "x", "a": "y"]),
    .object(["long key": "1", "a": "2"]), .numbers([0.1, 1e300, 2.5e-308, -1.5, 1e15, 0]),
    .numbers([]),
  ])
  func `K6: objects and numbers are returned as they were stored`(value: Value) async throws {
    let queue = try await TestQueue()
    let outcome = await DurableOperation(Echo(value), named: "r", in: queue.store()).run()
    #expect(outcome.result == value)
    #expect(
      await DurableOperation(Echo(value), named: "r", in: queue.store()).run().result == value)
  }

  @Test func `K6: JSON is stored so that other programs can read it`() async throws {
    let queue = try await TestQueue()
    _ = await DurableOperation(Echo(.object(["a": "b"])), named: "r", in: queue.store()).run()
    let name = try await queue.query(
      "select state->'value'->'object'->'_0'->>'a' from absurd.c_default")
    #expect(name == "b")
  }

  @Test func `K6: texts of another coder are stored as they are`() async throws {
    let queue = try await TestQueue()
    let options = RunStoreOptions(valueLimit: 1 << 20, coder: ReversingCoder())
    let store = queue.store(options: options)
    #expect(
      await DurableOperation(Echo(.text("secret")), named: "r", in: store).run().result
        == .text("secret"))
    let found = try await queue.query(
      "select count(*) from absurd.c_default where state::text like '%secret%'")
    #expect(found == "0")
    let again = DurableOperation(
      Echo(.text("secret")), named: "r", in: queue.store(options: options))
    #expect(await again.run().result == .text("secret"))
  }

  @Test func `K6: names with special characters`() async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    for name in ["a/b", "a%2Fb", "@end", "it's \"x\"", "👩‍👩‍👧", "$reason", "a/@end"] {
      let id = RunID(name)
      let worker = DurableWorker(in: store, running: [Waiting.self]).start()
      let run = try await store.start(Waiting(event: name), named: id)
      while try await store.run(id)?.summary.state != .parked {
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(try await store.run(id)?.summary.event == name)
      try await store.send(name, as: name, to: id)
      #expect(try await run.outcome.result == name)
      worker.cancel()
      _ = await worker.outcome
    }
    #expect(try await store.check() == [])
  }

  @Test(arguments: ["U+0000: \0.", "plain"])
  func `K6: payloads of events are received as they were sent`(text: String) async throws {
    let queue = try await TestQueue()
    let store = queue.store()
    for (number, payload) in [["z": text], ["a": text]].enumerated() {
      try await store.start(WaitingForObject(), named: "\(number)")
      try await store.send(payload, as: "go", to: "\(number)")
      let flow = DurableOperation(WaitingForObject(), named: "\(number)", in: store)
      #expect(await flow.run().result == payload)
    }
    // As a person writes it.
    try await store.start(WaitingForObject(), named: "by hand")
    try await store.send(encoded: #" { "\u007a" : "AAAA" } "#, as: "go", to: "by hand")
    let flow = DurableOperation(WaitingForObject(), named: "by hand", in: store)
    #expect(await flow.run().result == ["z": "AAAA"])
  }

  @Test func `K6: keys and names of events that are longer than an index takes`() async throws {
    let queue = try await TestQueue()
    var random = SystemRandomNumberGenerator()
    // An index would compress what repeats.
    let name = (0..<5_000).map { _ in
      String(UnicodeScalar(UInt8.random(in: 0x61...0x7A, using: &random)))
    }.joined()
    let flow = LongNames(name: name)
    try await Deeds.recorded { deeds in
      let store = queue.store()
      let run = try await store.start(flow, named: "r")
      let first = DurableWorker(in: store, running: [LongNames.self]).start()
      while deeds.all != ["a", "failure"] { try await Task.sleep(for: .milliseconds(10)) }
      first.cancel()
      _ = await first.outcome
      let other = queue.store()
      let second = DurableWorker(in: other, running: [LongNames.self]).start()
      try await other.send(7, as: name, to: "r")
      #expect(try await run.outcome.result == 7)
      #expect(deeds.all == ["a", "failure", "failure"])
      second.cancel()
      _ = await second.outcome
    }
  }

  @Test func `J5: a value over the limit of the store is an error that names it`() async throws {
    let queue = try await TestQueue()
    let text = String(repeating: "x", count: 2 << 20)
    let store = queue.store()
    let outcome = await DurableOperation(Large(count: text.count), named: "r", in: store).run()
    let error = try #require(outcome.error as? SequentialOperationError)
    let description = error.cause.map { "\($0)" } ?? ""
    #expect(description.contains("exceeds the limit of 1 MiB"), "\(description)")
  }
}

/// A value of a step.
enum Value: Codable, Hashable, Sendable {
  case text(String)
  case object([String: String])
  case numbers([Double])
}

/// A flow that returns its value, through a step.
private struct Echo: DurableSequence, Equatable {
  let value: Value

  init(_ value: Value) { self.value = value }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? Returned(value: value) : nil
  }

  func output(of steps: FinishedSteps) -> Value? { steps.last(of: Returned.self) }

  struct Returned: ComposableOperation {
    let value: Value
    func perform(in context: OperationContext) async throws -> Value { value }
  }
}

private struct Waiting: DurableSequence {
  let event: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? AwaitedEvent(event, as: String.self) : nil
  }

  func output(of steps: FinishedSteps) -> String? { steps.last(of: AwaitedEvent<String>.self) }
}

private struct WaitingForObject: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? AwaitedEvent("go", as: [String: String].self) : nil
  }

  func output(of steps: FinishedSteps) -> [String: String]? {
    steps.last(of: AwaitedEvent<[String: String]>.self)
  }
}

private struct Large: DurableSequence {
  let count: Int

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil
      ? SimpleOperation { [count] in String(repeating: "x", count: count) }.named("large") : nil
  }

  func output(of steps: FinishedSteps) {}
}

/// A flow with a long key and a long name of an event.
private struct LongNames: DurableSequence {
  let name: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    switch previous.map({ $0.index + 1 }) ?? 0 {
    case 0: Parts(name: name)
    case 1: AwaitedEvent(name, as: Int.self)
    default: nil
    }
  }

  func output(of steps: FinishedSteps) -> Int? { steps.last(of: AwaitedEvent<Int>.self) }

  /// Stores a part under the key, and then takes long in the first process.
  struct Parts: ComposableOperation {
    let name: String

    func perform(in context: OperationContext) async throws {
      _ = try await context.run(Deed("a").journaled(as: name))
      Deeds.current?.add("failure")
      if Deeds.current?.all == ["a", "failure"] { try await Task.sleep(for: .seconds(3_600)) }
    }
  }
}

/// A coder whose texts are not JSON.
private struct ReversingCoder: RunCoder {
  func encode(_ value: some Encodable) throws -> String {
    String(try JSONRunCoder().encode(value).reversed())
  }

  func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    try JSONRunCoder().decode(type, from: String(text.reversed()))
  }
}
