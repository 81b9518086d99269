import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransactionOperationTests {
  private struct Wrong: Error {}

  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase

  init() throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file())
  }

  /// The names that other readers see.
  private func names() async throws -> [String] {
    try await QueryRecords("Book", in: database).run().get().map(\.id.name).sorted()
  }

  private func save(_ names: String..., in database: any RecordDatabase) -> SaveRecords {
    SaveRecords(names.map { record($0, ["a": 1]) }, in: database)
  }

  @Test func `D2: a transaction sees its own changes, and others see them only after its end`()
    async throws
  {
    let gate = Gate()
    let run = TransactionOperation(in: database) { transaction in
      save("1", "2", in: transaction).then { _ in QueryRecords("Book", in: transaction) }
        .map { found in
          try await gate.pass()
          return found.map(\.id.name).sorted()
        }
    }.start()
    await gate.waitForArrivals(1)
    #expect(try await names() == [])
    gate.open()
    #expect(await run.outcome.result == ["1", "2"])
    #expect(try await names() == ["1", "2"])
    // Its changes are recorded like any others.
    let changes = try await FetchChanges(in: database).run().get()
    #expect(changes.changed.count == 2)
  }

  @Test func `D2: an error or a cancellation rolls back the whole transaction`() async throws {
    let failing = TransactionOperation(in: database) { transaction in
      save("1", in: transaction).then { _ in SimpleOperation<Int> { throw Wrong() } }
    }
    #expect(await failing.run().error is Wrong)
    let gate = Gate()
    let run = TransactionOperation(in: database) { transaction in
      save("2", in: transaction).map { _ in try? await gate.pass() }
    }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(try await names() == [])
    // The file is not locked any more.
    #expect(await save("3", in: database).run().result?.count == 1)
  }

  @Test func `D2: a failed savepoint is rolled back by itself, and the others are kept`()
    async throws
  {
    let operation = TransactionOperation(in: database) { transaction in
      ParallelOperation(
        (0..<20).map { index in
          transaction.savepoint { part in
            save("\(index)", in: part).then { _ in save("\(index) too", in: part) }
              .map { _ in if index % 3 == 0 { throw Wrong() } }
          }
        }, onFailure: .runAll
      ).collectingOutcomes()
    }
    let outcomes = try await operation.run().get()
    #expect(outcomes.map { $0.error is Wrong } == (0..<20).map { $0 % 3 == 0 })
    let expected = (0..<20).filter { $0 % 3 != 0 }.flatMap { ["\($0)", "\($0) too"] }
    #expect(try await names() == expected.sorted())
  }

  @Test func `D2: savepoints can be nested`() async throws {
    let operation = TransactionOperation(in: database) { transaction in
      transaction.savepoint { outer in
        save("1", in: outer)
          .then { _ in
            outer.savepoint { inner in
              save("2", in: inner).map { _ in throw Wrong() }
            }.ignoringErrors(with: ())
          }
          .then { _ in outer.savepoint { save("3", in: $0) } }
      }
    }
    _ = try await operation.run().get()
    #expect(try await names() == ["1", "3"])
  }

  @Test func `D2: a cancelled savepoint is rolled back, and the next one runs`() async throws {
    let gate = Gate()
    let operation = TransactionOperation(in: database) { transaction in
      let first = transaction.savepoint { part in
        save("1", in: part).map { _ in try await gate.pass() }
      }
      let clock = SimpleOperation { await gate.waitForArrivals(1) }
      return RaceOperation([AnyOperation(first), AnyOperation(clock)])
        .then { _ in transaction.savepoint { save("2", in: $0) } }
    }
    #expect(await operation.run().result != nil)
    #expect(try await names() == ["2"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `using the outer transaction inside a savepoint is an error, not a deadlock`() async throws {
    let operation = TransactionOperation(in: database) { transaction in
      transaction.savepoint { _ in save("1", in: transaction) }
    }
    let error = await operation.run().error as? RecordBatchError
    #expect(error?.failures.first?.name == "invalid")
    let nested = TransactionOperation(in: database) { transaction in
      transaction.savepoint { _ in transaction.savepoint { save("1", in: $0) } }
    }
    #expect((await nested.run().error as? RecordError)?.name == "invalid")
  }

  @Test(.timeLimit(.minutes(10)))
  func `writing to the database inside its own transaction is an error, not a deadlock`()
    async throws
  {
    let same = SQLiteRecordDatabase(folder.file())
    let file = folder.file("rows")
    try "id\n1\n".write(toFile: file, atomically: true, encoding: .utf8)
    let writers: [AnyOperation<Int>] = [
      AnyOperation(save("1", in: database).map(\.count)),
      AnyOperation(save("1", in: same).map(\.count)),
      AnyOperation(ImportRecords("Book", into: database, from: file, as: .csv).map(\.recordCount)),
      AnyOperation(TransactionOperation(in: database) { save("1", in: $0) }.map(\.count)),
    ]
    for writer in writers {
      let outer = TransactionOperation(in: database) { transaction in
        save("2", in: transaction).then { _ in writer }
      }
      let error = try #require(await outer.run().error)
      let cause = (error as? RecordBatchError)?.failures.first ?? error as? RecordError
      #expect(cause?.name == "invalid", "\(error)")
    }
    // Writing another database and reading the same one are allowed.
    let other = SQLiteRecordDatabase(folder.file("other"))
    let outer = TransactionOperation(in: database) { transaction in
      save("3", in: transaction).then { _ in save("3", in: other) }
        .then { _ in QueryRecords("Book", in: database) }
    }
    #expect(try await outer.run().get().isEmpty)
    #expect(try await names() == ["3"])
    #expect(await save("4", in: database).run().result?.count == 1)
  }

  @Test func `a task that outlives a transaction can write, and a link to the file is recognized`()
    async throws
  {
    let folder = folder
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file())
    let same = SQLiteRecordDatabase(link)
    let gate = Gate()
    let tasks = Lock<[Task<[RecordReply], any Error>]>([])
    let operation = TransactionOperation(in: database) { transaction in
      save("1", in: transaction)
        .then { _ in save("2", in: same).ignoringErrors(with: []) }
        .map { saved in
          #expect(saved.isEmpty)
          let late = Task {
            try await gate.pass()
            return try await database.modify(RecordBatch([.save(record("3"), .allKeys)]))
          }
          tasks.withLock { $0.append(late) }
        }
    }
    _ = try await operation.run().get()
    gate.open()
    for task in tasks.withLock(\.self) { #expect(try await task.value[0].error == nil) }
    #expect(try await names() == ["1", "3"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `transactions begin in the order of their requests`() async throws {
    let gate = Gate()
    let begun = Lock<[Int]>([])
    // Longer than it takes to queue all transactions.
    let database = SQLiteRecordDatabase(folder.file(), SQLiteOptions(busyTimeout: .seconds(600)))
    func transaction(_ number: Int) -> TransactionOperation<Int> {
      TransactionOperation(in: database) { transaction in
        SimpleOperation {
          begun.withLock { $0.append(number) }
          if number == 0 { try await gate.pass() }
          return number
        }
      }
    }
    var runs = [transaction(0).start()]
    await gate.waitForArrivals(1)
    for number in 1...20 {
      runs.append(transaction(number).start())
      // The next transaction starts only after this one is queued.
      while database.writerCount < number { await Task.yield() }
    }
    gate.open()
    for run in runs { _ = try await run.outcome.get() }
    #expect(begun.withLock(\.self) == Array(0...20))
  }

  @Test func `a transaction that has ended refuses requests`() async throws {
    let kept = Lock<[RecordTransaction]>([])
    let operation = TransactionOperation(in: database) { transaction in
      transaction.savepoint { part in
        kept.withLock { $0 = [transaction, part] }
        return save("1", in: part)
      }
    }
    _ = try await operation.run().get()
    for transaction in kept.withLock(\.self) {
      let error = await QueryRecords("Book", in: transaction).run().error as? RecordQueryError
      #expect((error?.cause as? RecordError)?.name == "invalid")
      #expect(await save("2", in: transaction).run().error is RecordBatchError)
    }
    #expect(try await names() == ["1"])
  }

  @Test func `D2: after a rollback by SQLite itself, the transaction saves nothing`() async throws {
    try execute(
      [
        "CREATE TABLE Guarded (id TEXT PRIMARY KEY, a INTEGER)",
        """
        CREATE TRIGGER guard BEFORE INSERT ON Guarded WHEN NEW.a = 2
        BEGIN SELECT RAISE(ROLLBACK, 'never two'); END
        """,
      ], in: folder.file())
    let steps: [@Sendable (RecordTransaction) -> AnyOperation<Int>] = [
      { transaction in AnyOperation(save("2", in: transaction).map(\.count)) },
      { transaction in AnyOperation(transaction.savepoint { save("2", in: $0) }.map(\.count)) },
      { _ in AnyOperation(SimpleOperation { 0 }) },
    ]
    for step in steps {
      let operation = TransactionOperation(in: database) { transaction in
        save("1", in: transaction)
          .then { _ in
            SaveRecords([record("x", type: "Guarded", ["a": 2])], in: transaction)
              .ignoringErrors(with: [])
          }
          .then { _ in step(transaction) }
      }
      let error = try #require(await operation.run().error)
      let cause = (error as? RecordBatchError)?.failures.first ?? error as? RecordError
      #expect(cause?.name == "storage", "\(error)")
      #expect(try await names().isEmpty)
    }
  }

  @Test func `a context can be saved in a transaction`() async throws {
    let operation = TransactionOperation(in: database) { transaction in
      ContextOperation(in: RecordContainer(transaction)) { context in
        context.set(record("1", ["a": 1]))
        return .save
      }.adding { context in
        var one = try #require(try await context.record(RecordID("Book", "1")))
        one["a"] = 2
        context.set(one)
        return .save
      }
    }
    #expect(try await operation.run().get().saved.map { $0["a"] } == [2])
    #expect(try await database.lookup([RecordID("Book", "1")], keys: nil).count == 1)
  }

  @Test func `a concurrent writer waits, and fails after the busy timeout`() async throws {
    let other = SQLiteRecordDatabase(
      folder.file(), SQLiteOptions(busyTimeout: .milliseconds(10)))
    let gate = Gate()
    let run = TransactionOperation(in: database) { transaction in
      save("1", in: transaction).map { _ in try await gate.pass() }
    }.start()
    await gate.waitForArrivals(1)
    let refused = SaveRecords([record("2")], in: other, retries: .none)
    let error = await refused.run().error as? RecordBatchError
    #expect(error?.failures.map(\.name) == ["unavailable"])
    gate.open()
    _ = await run.outcome
    #expect(await refused.run().result?.count == 1)
  }
}
