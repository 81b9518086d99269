import CompositeOperations
import DurableOperations
import Foundation
import SQLiteSupport
import TestSupport
import Testing

struct Receipt: Codable, Sendable {
  let id: String
}

struct Approval: Codable, Sendable {
  let isGranted: Bool
}

struct ChargeCard: ComposableOperation {
  let declines: Bool

  func perform(in context: OperationContext) async throws -> Receipt {
    if declines { throw CardError.declined }
    return Receipt(id: "pay_1")
  }
}

enum CardError: Error, Codable { case declined }

/// Charges a card, and waits for an approval.
struct Fulfilment: DurableSequence {
  var declines = false
  var limit: Int?

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    if previous?.outcome.error != nil { return nil }
    return switch previous?.index {
    case nil: ChargeCard(declines: declines)
    case 0:
      AwaitedEvent("approved", as: Approval.self, within: limit.map { .seconds($0) })
        .named("AwaitedEvent")
    default: nil
    }
  }

  func output(of steps: FinishedSteps) -> Int { steps.count }
}

/// Stores two parts of a step that never ends.
struct Packing: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard previous == nil else { return nil }
    return ParallelOperation([
      PackItem(item: "lamp").journaled(as: "lamp"), PackItem(item: "desk").journaled(as: "desk"),
      PackItem(item: nil).journaled(as: "chair"),
    ]).named("pack items")
  }
}

/// A flow with two child flows.
struct Shipping: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard previous == nil else { return nil }
    return ParallelOperation(
      ["lamp", "desk"].map { ChildFlow(Parcel(item: $0), named: "parcel of a \($0)") }
    ).named("ship parcels")
  }
}

struct Parcel: DurableSequence {
  let item: String

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? PackItem(item: item) : nil
  }

  func output(of steps: FinishedSteps) -> String { item }
}

struct PackItem: ComposableOperation {
  /// Nil for an item that never comes.
  let item: String?

  func perform(in context: OperationContext) async throws -> String {
    if let item { return item }
    try await Task.sleep(for: .seconds(86_400))
    return ""
  }
}

/// Has names with characters that control a terminal.
struct Unruly: DurableSequence {
  static let flowName = "un\u{1B}[2Jruly\nflow"

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    switch previous?.index {
    case nil: PackItem(item: "a\u{7F}\u{202E}b").named("first\nline\u{1B}[31m")
    default: AwaitedEvent("go\u{1B}[0m", as: Int.self)
    }
  }
}

/// A journal with runs in several states, at noon of a fixed day in UTC.
struct JournalFixture {
  let folder: TemporaryFolder
  let store: RunStore
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/flows.sqlite"
    // 2026-11-24 12:00:00
    let now = Date(timeIntervalSince1970: 1_795_521_600)
    store = .sqlite(path, options: RunStoreOptions(durability: .normal, now: { now }))
  }

  /// Runs `coop journal` with the file.
  func run(_ arguments: String...) async throws -> ProgramResult {
    try await program(arguments).run()
  }

  func program(_ arguments: [String]) -> Program {
    var program = Program.coop()
    program.arguments = ["journal", path] + arguments
    program.environment = ["TZ": "UTC"]
    return program
  }

  /// Starts a run, and runs it until a condition is met.
  func start(
    _ flow: some DurableSequence, named id: RunID,
    until condition: (RunDetails) -> Bool
  ) async throws {
    try await store.start(flow, named: id)
    try await work(until: id, condition)
  }

  /// Runs the runs of the journal until a condition is met.
  func work(until id: RunID, _ condition: (RunDetails) -> Bool) async throws {
    let worker = DurableWorker(
      in: store,
      running: [
        Fulfilment.self, Packing.self, RetryingCharge.self, Shipping.self, Unruly.self,
      ]
    ).start()
    try await wait(for: id, condition)
    worker.cancel()
    // It releases its runs.
    try await wait(for: id) { $0.summary.state != .running }
  }

  private func wait(for id: RunID, _ condition: (RunDetails) -> Bool) async throws {
    while let run = try await store.run(id), !condition(run) {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Starts a run that waits for the event "approved".
  func startParked(_ id: RunID, limit: Int? = nil) async throws {
    try await start(Fulfilment(limit: limit), named: id) { $0.summary.state == .parked }
  }

  /// Starts a run that fails in its first step.
  func startFailed(_ id: RunID) async throws {
    try await start(Fulfilment(declines: true), named: id) { $0.summary.state == .error }
  }

  func state(of id: RunID) async throws -> RunState? { try await store.run(id)?.summary.state }

  /// Runs a statement in the file.
  func execute(_ sql: String) throws { try connection.execute(sql) }

  /// Stores a run with two steps, as another program could: a text is in all its parts.
  func insertRun(_ id: String, in state: String, with text: String, at began: Int) throws {
    try connection.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, reason, outcome, began, updated, ended)
        VALUES (?1, ?2, json_quote(?2), '{}', ?3, ?2,
          json_object('error', json_object('type', ?2, 'description', ?2)), ?4, 0,
          iif(?3 = 'error', 5, NULL))
      """, [.text(id), .text(text), .text(state), .integer(Int64(began))])
    try connection.execute(
      "INSERT INTO event (run, name, payload, sent) VALUES (?1, ?2, json_quote(?2 || hex(zeroblob(50))), 5)",
      [.text(id), .text(text)])
    for (position, kind) in ["result", "error"].enumerated() {
      // A short value has no element that folds it.
      try connection.execute(
        """
        INSERT INTO step VALUES (?1, ?3, '', ?2, '[]', ?4, json_quote(?2 || hex(zeroblob(50))),
          iif(?3 = 0, '{}', json_object(?2, ?2)), 1, 1, 0, 5)
        """, [.text(id), .text(text), .integer(Int64(position)), .text(kind)])
    }
  }

  func text(_ sql: String) throws -> String? {
    try connection.fetchOne(sql) { $0.text(at: 0) } ?? nil
  }

  private var connection: SQLiteConnection {
    get throws {
      try SQLiteConnection.open(
        path, for: .writing, SQLiteConfiguration(access: .existing, durability: .normal))
    }
  }
}
