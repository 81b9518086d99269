import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// Transactions of records that share a commit with writes of other runs, or fill the disk.
@Suite(.timeLimit(.minutes(10))) struct SharedCommitTests {
  enum Failure: CaseIterable { case error, recordError, taken, rollback }

  @Test(arguments: Failure.allCases)
  func `J25: a step that fails does not undo the writes of other runs in the same commit`(
    failure: Failure
  ) async throws {
    try await withBookings { file, database in
      let barrier = CommitBarrier()
      let store = RunStore.sqlite(file) { moment, _ in barrier.pass(moment) }
      let calls = Lock(0)
      let results = try await store.sharingCommit(of: database, barrier) { records in
        calls.withLock { $0 += 1 }
        _ = try records.book("failed")
        switch failure {
        case .error: throw BookingError(code: 1)
        case .recordError: return try records.book("failed")
        case .taken: return 0
        case .rollback: return try records.bookRefused()
        }
      } breaking: { claim in
        if failure == .rollback { try RecordWriter.refuseBookings(in: file) }
        // The second claim makes the first one invalid.
        guard failure == .taken else { return }
        try await store.backend.release(by: claim)
        _ = try await store.claim(claim.run)
      }
      #expect(results.map { $0 == nil } == [true, false, true])
      switch failure {
      case .error: #expect(results[1] as? BookingError == BookingError(code: 1))
      case .recordError: #expect(results[1] is RecordError)
      case .taken: #expect((results[1] as? DurableRunError)?.isTaken == true)
      case .rollback: #expect(results[1] is SQLiteError)
      }
      // A rollback of the whole transaction repeats each write alone.
      #expect(calls.withLock { $0 } == (failure == .rollback ? 2 : 1))
      #expect(barrier.sharedCommits == (failure == .rollback ? 2 : 1))
      #expect(try await database.bookings == ["a", "c"])
      #expect(try await database.bookingCount == 2)
      let steps = try await store.runs().map(\.step)
      #expect(steps.sorted() == [0, 0, 1, 1])
    }
  }

  @Test func `J25: records that fill the disk do not fail the writes of other runs`() async throws {
    try await withBookings { file, database in
      let (barrier, limit) = (CommitBarrier(), PageLimit())
      limit.set(isOn: true)
      let store = RunStore.sqlite(file) { moment, connection in
        try limit.apply(moment, connection)
        barrier.pass(moment)
      }
      let results = try await store.sharingCommit(of: database, barrier) { try $0.bookLarge() }
      #expect(results.map { $0 == nil } == [true, false, true])
      #expect((results[1] as? RunStoreError)?.reason == .diskFull)
      #expect(try await database.bookings == ["a", "c"])
    }
  }

  @Test func `J25: a full disk undoes the whole step, also if the closure ignores the error`()
    async throws
  {
    try await withBookings { file, database in
      let limit = PageLimit()
      let store = RunStore.sqlite(file) { try limit.apply($0, $1) }
      limit.set(isOn: true)
      let flow = DurableOperation(OneStep(.ignoringErrors), named: "r", in: store)
      let error = await flow.run().error as? RunStoreError
      let run = try await store.run("r")
      #expect(error?.reason == .diskFull)
      #expect(run?.summary.step == 0)
      #expect(try await database.bookings == [])
      limit.set(isOn: false)
      #expect(try await flow.run().get() == 2)
      #expect(try await database.bookings == ["large", "once"])
      #expect(try await store.check() == [])
    }
  }

  @Test func `J25: a trigger that rolls the whole transaction back fails the step`() async throws {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      try await store.start(OneStep(.refused), named: "r")
      try RecordWriter.refuseBookings(in: file)
      let outcome = await DurableOperation(OneStep(.refused), named: "r", in: store).run()
      let error = (outcome.error as? SequentialOperationError)?.cause as? JournaledError
      let steps = try await store.run("r")?.steps
      #expect(error?.type == "RecordOperations.RecordError", "\(outcome)")
      #expect(error?.description.contains("no more bookings") == true, "\(outcome)")
      #expect(steps?.map(\.kind) == [.error])
      #expect(try await database.bookings == [])
    }
  }

  @Test func `J25: a foreign key that is violated at the end of the transaction fails the step`()
    async throws
  {
    try await withBookings { file, database in
      let store = RunStore.sqlite(file)
      try await store.start(Bookings(.own), named: "r")
      try SQLiteFiles.execute(
        file, "CREATE TABLE parent (id TEXT PRIMARY KEY)",
        """
        CREATE TABLE child (id TEXT PRIMARY KEY,
          parent TEXT REFERENCES parent DEFERRABLE INITIALLY DEFERRED)
        """)
      let claim = try await store.claim("r")
      let error = await #expect(throws: RecordError.self) {
        try await store.commit(by: claim, in: database) { records in
          var child = DatabaseRecord("child", "c")
          child["parent"] = .reference(RecordReference(RecordID("parent", "none"), onDelete: .deny))
          try records.save([child])
          return 0
        }
      }
      #expect(
        error?.description.contains("foreign key violation at the end") == true, "\(error as Any)")
      #expect(try await store.run("r")?.summary.step == 0)
    }
  }
}

extension RunStore {
  /// Makes three transactions of the runs `a`, `b` and `c` share a commit.
  ///
  /// - Parameters:
  ///   - body: The transaction of `b`. The others book.
  ///   - prepare: Called with the claim of `b` before.
  /// - Returns: The errors of the transactions.
  fileprivate func sharingCommit(
    of database: SQLiteRecordDatabase, _ barrier: CommitBarrier,
    _ body: @escaping @Sendable (RecordWriter) throws -> Int,
    breaking prepare: (ClaimToken) async throws -> Void = { _ in }
  ) async throws -> [(any Error)?] {
    var claims: [ClaimToken] = []
    for id: RunID in ["a", "b", "c"] {
      try await start(Bookings(.own), named: id)
      claims.append(try await claim(id))
    }
    try await prepare(claims[1])
    // The writer is held in a commit until the three transactions wait for it.
    barrier.hold()
    let held = Task.immediate { try await start(Bookings(), named: "held") }
    await barrier.waitUntilHeld()
    let bodies: [@Sendable (RecordWriter) throws -> Int] = [
      { try $0.book("a") }, body, { try $0.book("c") },
    ]
    let tasks = zip(claims, bodies).map { claim, body in
      Task.immediate { try await commit(by: claim, in: database, body) }
    }
    barrier.open()
    _ = try await held.value
    var errors: [(any Error)?] = []
    for task in tasks {
      do {
        try await task.value
        errors.append(nil)
      } catch { errors.append(error) }
    }
    return errors
  }
}

extension RecordWriter {
  /// Creates a table whose trigger rolls the transaction back.
  static func refuseBookings(in file: String) throws {
    try SQLiteFiles.execute(
      file, "CREATE TABLE refused (id TEXT PRIMARY KEY)",
      """
      CREATE TRIGGER refuse BEFORE INSERT ON refused
      BEGIN SELECT RAISE(ROLLBACK, 'no more bookings'); END
      """)
  }

  /// Books in the table of ``refuseBookings(in:)``, and ignores the error.
  func bookRefused() throws -> Int {
    _ = try? save([DatabaseRecord("refused", "1")])
    return (try? book("refused")) ?? 0
  }

  /// Books with a record of many pages.
  func bookLarge() throws -> Int {
    var large = DatabaseRecord("Large", "1")
    large["bytes"] = .bytes(Array(repeating: 7, count: 2_000_000))
    try save([large])
    return try book("large")
  }
}

/// Holds the writer of a store in one of its commits.
private final class CommitBarrier: Sendable {
  private struct State {
    var isHolding = false
    var count = 0
  }

  private let state = Lock(State())
  private let held = Latch()
  private let opened = DispatchSemaphore(value: 0)

  /// The commits that have begun since the held one.
  var sharedCommits: Int { state.withLock { $0.count } }

  /// Holds the next commit.
  func hold() { state.withLock { $0.isHolding = true } }

  func waitUntilHeld() async { await held.wait() }

  func open() { opened.signal() }

  func pass(_ moment: CommitMoment) {
    guard moment == .beforeCommit else { return }
    let holds = state.withLock { state in
      defer { state = State(count: state.isHolding ? 0 : state.count + 1) }
      return state.isHolding
    }
    guard holds else { return }
    held.open()
    opened.wait()
  }
}
