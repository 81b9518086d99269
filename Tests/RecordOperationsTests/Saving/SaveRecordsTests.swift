import CompositeOperations
import CompositeOperationsTestKit
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct SaveRecordsTests {
  /// Records the requests to a database, and makes some of them fail.
  private final class RequestLog: Sendable {
    private let sent = Lock<[FaultyRecordDatabase.Request]>([])
    let base: any RecordDatabase

    init(_ base: any RecordDatabase = MemoryRecordDatabase()) { self.base = base }

    /// The names of the records in each batch, in order.
    var batches: [[String]] {
      sent.withLock(\.self).compactMap { request in
        if case .modify(let batch) = request { batch.changes.map(\.id.name) } else { nil }
      }
    }
    var lookups: [[String]] {
      sent.withLock(\.self).compactMap { request in
        if case .lookup(let ids) = request { ids.map(\.name) } else { nil }
      }
    }

    func database(
      _ fault:
        @escaping @Sendable (FaultyRecordDatabase.Request, Int) async -> FaultyRecordDatabase
        .Fault? = { _, _ in nil }
    ) -> FaultyRecordDatabase {
      FaultyRecordDatabase(base) { request, number in
        self.sent.withLock { $0.append(request) }
        return await fault(request, number)
      }
    }
  }

  private let fiveAttempts = RetryPolicy(attempts: 5)

  private func books(_ count: Int) -> [DatabaseRecord] {
    (0..<count).map { record("\($0)", ["pages": .integer(Int64($0))]) }
  }

  @Test func `saved records are returned in order with new tags, and can be saved again`()
    async throws
  {
    let database = MemoryRecordDatabase()
    var saved = try await SaveRecords(books(3), in: database).run().get()
    #expect(saved.map(\.id.name) == ["0", "1", "2"])
    saved[1]["pages"] = 7
    let again = try await SaveRecords(saved, in: database).run().get()
    #expect(again[1]["pages"] == 7)
    #expect(again[1].tag != saved[1].tag)
    #expect(try await SaveRecords([DatabaseRecord](), in: database).run().get().isEmpty)
  }

  /// Includes sizes at which a predecessor of this package lost records.
  @Test(arguments: [1, 2, 3, 4, 5, 7, 100], [1, 2, 3, 7, 100])
  func `D3: a limit on the number of records splits a save and loses none`(count: Int, limit: Int)
    async throws
  {
    let log = RequestLog(MemoryRecordDatabase(limits: RecordLimits(items: limit)))
    let saved = try await SaveRecords(books(count), in: log.database()).run().get()
    #expect(saved.map(\.id.name) == (0..<count).map { "\($0)" })
    #expect(log.batches.joined().elementsEqual((0..<count).map { "\($0)" }))
    #expect(log.batches.count == (count + limit - 1) / limit)
    let found = try await log.base.lookup(saved.prefix(limit).map(\.id), keys: nil)
    #expect(found.count == min(limit, count))
  }

  @Test func `D3: a limit in bytes splits a save, and a record above the limit is reported`()
    async throws
  {
    let size = books(1)[0].byteCount
    let log = RequestLog(MemoryRecordDatabase(limits: RecordLimits(bytes: 2 * size)))
    var records = books(5)
    records[2]["note"] = .bytes(Array(repeating: 0, count: 2 * size))
    let error = try #require(
      await SaveRecords(records, in: log.database()).run().error as? RecordBatchError)
    #expect(log.batches == [["0", "1"], ["2"], ["3", "4"]])
    #expect(error.saved.map(\.id.name) == ["0", "1", "3", "4"])
    #expect(error.failures.map(\.name) == ["limitExceeded"])
    #expect(error[records[2].id] != nil && error[records[3].id] == nil)
    #expect("\(error)".contains("1 of 5 records not changed\nBook/2: limit exceeded"))
  }

  /// A database that does not state its limit, and refuses larger requests.
  @Test(arguments: 1...9, 1...4)
  func `D3: a request that is too large is halved, down to one record`(count: Int, limit: Int)
    async throws
  {
    let log = RequestLog()
    let database = log.database { request, _ in
      guard case .modify(let batch) = request, batch.changes.count > limit else { return nil }
      return .refusing(RecordError(.limitExceeded))
    }
    let saved = try await SaveRecords(books(count), in: database).run().get()
    #expect(saved.map(\.id.name) == (0..<count).map { "\($0)" })
    let done = log.batches.filter { $0.count <= limit }.joined()
    #expect(done.elementsEqual((0..<count).map { "\($0)" }))
  }

  @Test func `D3: when the rest is halved, records that are already saved are not sent again`()
    async throws
  {
    let log = RequestLog()
    let database = log.database { request, number in
      guard case .modify(let batch) = request else { return nil }
      if number == 1 { return .failing { $0.id.name == "0" ? nil : RecordError(.unavailable("")) } }
      return batch.changes.count > 1 ? .refusing(RecordError(.limitExceeded)) : nil
    }
    let saved = try await SaveRecords(books(3), in: database, retries: fiveAttempts).run().get()
    #expect(saved.count == 3)
    #expect(log.batches == [["0", "1", "2"], ["1", "2"], ["1"], ["2"]])
  }

  @Test func `D3: a single record that is too large fails, and the others are saved`() async throws
  {
    let log = RequestLog()
    let database = log.database { request, _ in
      guard case .modify(let batch) = request,
        batch.changes.contains(where: { $0.id.name == "3" })
      else { return nil }
      return .refusing(RecordError(.limitExceeded))
    }
    let error = try #require(
      await SaveRecords(books(8), in: database).run().error as? RecordBatchError)
    #expect(error.saved.map(\.id.name) == ["0", "1", "2", "4", "5", "6", "7"])
    #expect(error.failures.map { $0.record?.name } == ["3"])
  }

  @Test func `D2: an atomic save is one request or none`() async throws {
    let log = RequestLog(MemoryRecordDatabase(limits: RecordLimits(items: 3)))
    let database = log.database()
    let error = await SaveRecords(books(4), in: database, atomic: true).run().error
    #expect((error as? RecordError)?.name == "limitExceeded")
    #expect(log.batches.isEmpty)
    #expect(await SaveRecords(books(3), in: database, atomic: true).run().result?.count == 3)
    #expect(log.batches == [["0", "1", "2"]])
    // A refused atomic request is not halved.
    let small = RequestLog()
    let refusing = small.database { _, _ in .refusing(RecordError(.limitExceeded)) }
    let refused = await SaveRecords(books(4), in: refusing, atomic: true).run().error
    #expect((refused as? RecordBatchError)?.failures.count == 4)
    #expect(small.batches.count == 1)
    // It is not sent to a database without atomic batches.
    let simple = MemoryRecordDatabase(capabilities: [.changes])
    let unsupported = await SaveRecords(books(1), in: simple, atomic: true).run().error
    #expect((unsupported as? RecordError)?.name == "unsupported")
  }

  @Test func `D4: only temporary failures are retried, and only with the unsaved records`()
    async throws
  {
    let log = RequestLog()
    let database = log.database { request, number in
      guard case .modify = request else { return nil }
      return .failing { change in
        switch change.id.name {
        case "1" where number < 3: RecordError(.unavailable("busy"))
        case "2": RecordError(.notPermitted("no"))
        default: nil
        }
      }
    }
    let error = try #require(
      await SaveRecords(books(4), in: database, retries: fiveAttempts).run().error
        as? RecordBatchError)
    #expect(log.batches == [["0", "1", "2", "3"], ["1"], ["1"]])
    #expect(error.saved.map(\.id.name) == ["0", "1", "3"])
    #expect(error.failures.map(\.name) == ["notPermitted"])
  }

  @Test func `D2: an atomic batch is retried as a whole`() async throws {
    let log = RequestLog()
    let database = log.database { _, number in
      .failing { change in
        change.id.name == "1" && number < 3 ? RecordError(.unavailable("busy")) : nil
      }
    }
    let save = SaveRecords(books(3), in: database, atomic: true, retries: fiveAttempts)
    #expect(await save.run().result?.count == 3)
    #expect(log.batches.map(\.count) == [3, 3, 3])
  }

  @Test func `D4: the number of attempts is limited`() async throws {
    let log = RequestLog()
    let database = log.database { _, _ in .refusing(RecordError(.unavailable("away"))) }
    let save = SaveRecords(books(5), in: database, retries: RetryPolicy(attempts: 3))
    let error = try #require(await save.run().error as? RecordBatchError)
    #expect(log.batches.count == 3)
    #expect(error.failures.count == 5 && error.saved.isEmpty)
    // A permanent failure is not retried.
    let closed = RequestLog(MemoryRecordDatabase(limits: RecordLimits(items: 2)))
    let refusing = closed.database { _, number in
      number == 2 ? .refusing(RecordError(.notPermitted("read only"))) : nil
    }
    let refused = try #require(
      await SaveRecords(books(5), in: refusing).run().error as? RecordBatchError)
    #expect(refused.saved.map(\.id.name) == ["0", "1"])
    #expect(refused.failures.map { $0.record?.name } == ["2", "3"])
    #expect(refused.unsent.map(\.name) == ["4"])
    #expect(closed.batches.count == 2)
  }

  @Test func `D4: a policy limits the time and the errors that are retried`() async throws {
    let busy = RecordError(.unavailable("busy"))
    // The second delay would end after 3 seconds.
    let short = RetryPolicy(
      attempts: 9, backoff: .linear(from: .seconds(1)), within: .seconds(2))
    // The error is temporary, but not worthwhile for the policy.
    let never = RetryPolicy(attempts: 9) { _ in false }
    for (policy, count) in [(short, 2), (never, 1)] {
      let log = RequestLog()
      let database = log.database { _, _ in .refusing(busy) }
      let requests: [any ComposableOperation<Int>] = [
        SaveRecords(books(1), in: database, retries: policy).map(\.count),
        QueryRecords("Book", in: database, retries: policy).map(\.count),
      ]
      for request in requests {
        let clock = ManualClock()
        let before = database.requestCount
        let run = request.start(in: OperationEnvironment(clock: clock))
        for _ in 1..<count {
          await clock.waitForSleepers(1)
          clock.advance(by: .seconds(1))
        }
        let error = await run.outcome.error
        let cause = (error as? RecordQueryError)?.cause as? RecordError
        #expect((error as? RecordBatchError)?.failures.count == 1 || cause?.name == "unavailable")
        #expect(database.requestCount - before == count)
      }
    }
  }

  @Test func `D4: a retried query waits as long as the database requests`() async throws {
    let clock = ManualClock()
    let database = RequestLog().database { _, number in
      number == 1 ? .refusing(RecordError(.unavailable("busy"), retryAfter: .seconds(30))) : nil
    }
    let run = QueryRecords("Book", in: database).start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    #expect(clock.nextDeadline?.offset == .seconds(30))
    clock.advance(by: .seconds(30))
    #expect(await run.outcome.result?.isEmpty == true)
  }

  @Test func `D4: delays follow the backoff, or the delay that the database requests`() async throws
  {
    let clock = ManualClock()
    let log = RequestLog()
    let database = log.database { _, number in
      switch number {
      case 1: .refusing(RecordError(.unavailable("busy"), retryAfter: .seconds(30)))
      case 2, 3: .refusing(RecordError(.unavailable("busy")))
      default: nil
      }
    }
    let retries = RetryPolicy(attempts: 5, backoff: .exponential(from: .seconds(1)))
    let run = SaveRecords(books(1), in: database, retries: retries)
      .start(in: OperationEnvironment(clock: clock))
    for wait in [30, 2, 4] {
      await clock.waitForSleepers(1)
      let before = log.batches.count
      clock.advance(by: .seconds(wait) - .nanoseconds(1))
      #expect(clock.sleeperCount == 1)
      #expect(log.batches.count == before)
      clock.advance(by: .nanoseconds(1))
    }
    #expect(await run.outcome.result?.count == 1)
  }

  @Test(arguments: [false, true], SavePolicy.allCases)
  func `D4: a lost reply does not cause a duplicate save`(isAtomic: Bool, policy: SavePolicy)
    async throws
  {
    let log = RequestLog()
    let database = log.database { request, number in
      if case .modify = request, number == 1 { .losingReply } else { nil }
    }
    let save = SaveRecords(
      books(3), in: database, policy: policy, atomic: isAtomic, retries: fiveAttempts)
    let saved = try await save.run().get()
    #expect(saved.map(\.id.name) == ["0", "1", "2"])
    #expect(log.batches.count == 1)
    #expect(log.lookups == [["0", "1", "2"]])
    #expect(
      saved == (try await log.base.query(RecordQuery("Book"), after: nil, atMost: 9)).records)
  }

  @Test(arguments: [false, true])
  func `D4: a lost request is sent again`(isAtomic: Bool) async throws {
    let log = RequestLog()
    let database = log.database { request, number in
      if case .modify = request, number < 4 { .losingRequest } else { nil }
    }
    let save = SaveRecords(books(3), in: database, atomic: isAtomic, retries: fiveAttempts)
    #expect(await save.run().result?.count == 3)
    #expect(log.batches.count == 3)
  }

  /// The other writer saves before or after the lost reply. The two cases cannot be distinguished.
  @Test(arguments: [false, true])
  func `D4: a lost reply hides no conflict`(isQuicker: Bool) async throws {
    let base = MemoryRecordDatabase()
    let first = try await base.save(record("0", ["pages": 1]), record("1", ["pages": 1]))
    let log = RequestLog(base)
    let database = log.database { request, number in
      if case .modify = request {
        if number == 1, isQuicker { _ = try? await base.save(record("1", ["pages": 3])) }
        return number == 1 ? .losingReply : nil
      }
      if !isQuicker { _ = try? await base.save(record("1", ["pages": 3])) }
      return nil
    }
    var mine = first
    mine[0]["pages"] = 2
    mine[1]["pages"] = 2
    let error = try #require(
      await SaveRecords(mine, in: database, retries: fiveAttempts).run().error as? RecordBatchError)
    #expect(error.saved.map(\.id.name) == ["0"])
    #expect(error.failures.map(\.name) == ["replyLost"])
    #expect(try await base.record(first[1].id)?["pages"] == 3)
    // The records are looked up and not sent again.
    #expect(log.batches == [["0", "1"]])
  }

  @Test func `D4: a save whose replies are all lost has an unknown outcome`() async throws {
    let database = RequestLog().database { _, _ in .losingReply }
    let error = try #require(
      await SaveRecords(books(1), in: database, retries: fiveAttempts).run().error
        as? RecordBatchError)
    #expect(error.failures.map(\.name) == ["replyLost"])
  }

  @Test func `if a record is passed twice, the later fields apply`() async throws {
    let log = RequestLog()
    var first = record("0", ["a": 1, "b": 1])
    let other = record("1")
    let again = record("0", ["b": 2])
    first["c"] = 3
    let saved = try await SaveRecords([first, other, again], in: log.database()).run().get()
    #expect(log.batches == [["0", "1"]])
    #expect(saved.map(\.id.name) == ["0", "1", "0"])
    #expect(saved[0] == saved[2])
    #expect(saved[0]["a"] == 1 && saved[0]["b"] == 2 && saved[0]["c"] == 3)
  }

  @Test(arguments: SavePolicy.allCases)
  func `two modified copies of a record are merged into one save`(
    policy: SavePolicy
  ) async throws {
    let base = MemoryRecordDatabase()
    let read = try await base.save(record("0", ["a": 1, "b": 1, "c": 1]))[0]
    var (one, other) = (read, read)
    one["a"] = 2
    other["b"] = 2
    let saved = try await SaveRecords([one, other], in: base, policy: policy).run().get()
    #expect(saved[0] == saved[1])
    let found = try #require(try await base.record(read.id))
    // If all fields are saved, the unchanged fields of the second copy overwrite the
    // changes of the first.
    let isWhole = policy == .allKeys || policy == .replace
    #expect(found["a"] == (isWhole ? 1 : 2) && found["b"] == 2 && found["c"] == 1)
  }

  @Test func `D9: a cancelled save reports what was done until then`() async throws {
    let log = RequestLog(MemoryRecordDatabase(limits: RecordLimits(items: 2)))
    let gate = Gate()
    let database = log.database { _, number in
      if number == 2 { try? await gate.pass() }
      return nil
    }
    let run = SaveRecords(books(5), in: database).start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    let late = try #require(await run.lateOutcome?.error as? RecordBatchError)
    #expect(late.saved.map(\.id.name) == ["0", "1"])
    #expect(late.failures.map { $0.record?.name } == ["2", "3"])
    #expect(late.unsent.map(\.name) == ["4"])
    #expect(log.batches.count == 2)
  }

  @Test func `D9: a save cancelled before its next attempt reports the errors of the last one`()
    async throws
  {
    let clock = ManualClock()
    let database = RequestLog().database { _, _ in .refusing(RecordError(.unavailable("busy"))) }
    let run = SaveRecords(books(2), in: database).start(in: OperationEnvironment(clock: clock))
    await clock.waitForSleepers(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let late = try #require(await run.lateOutcome?.error as? RecordBatchError)
    #expect(late.failures.map(\.name) == ["unavailable", "unavailable"])
  }

  @Test func `requests and attempts are observed as operations`() async throws {
    let log = RequestLog(MemoryRecordDatabase(limits: RecordLimits(items: 2)))
    let database = log.database { _, number in
      number == 1 ? .refusing(RecordError(.unavailable("busy"))) : nil
    }
    let recorder = RecordingObserver()
    _ = await SaveRecords(books(3), in: database, retries: fiveAttempts).observed(by: recorder)
      .run()
    let names = recorder.events.compactMap { event in
      if case .started = event.kind { event.path.names.last } else { nil }
    }
    #expect(names == ["save 3 records", "modify 2 records", "modify 2 records", "modify 1 record"])
  }

  @Test func `a saved Codable value overwrites the stored one, even with nil`() async throws {
    struct Note: Codable, Identifiable, RecordConvertible {
      let id: Int
      var text: String?
    }
    let database = MemoryRecordDatabase()
    for text in ["a", nil] {
      _ = try await SaveRecords([Note(id: 1, text: text)], in: database).run().get()
      let found = try await QueryRecords("Note", in: database).decoding(Note.self).run().get()
      #expect(found.map(\.text) == [text])
    }
  }
}
