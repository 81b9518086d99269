import CompositeOperations
import RecordOperations
import Testing

/// The chain of the article *Coming from MPC_NSOperation*: account, query, adapter, save, end.
@Suite struct SaveIfNewTests {
  private enum SaveResult: Sendable {
    case saved(DatabaseRecord)
    case wasThere(DatabaseRecord)
  }

  private struct SaveIfNew: ComposableOperation {
    let record: DatabaseRecord
    let key: String
    let database: any RecordDatabase

    func perform(in context: OperationContext) async throws -> SaveResult {
      let query = QueryRecords(
        record.id.type, in: database, where: .comparison(key, .equal, record[key]), limit: 1)
      if let found = try await context.run(query).first { return .wasThere(found) }
      let saved = try await context.run(SaveRecords([record], in: database))
      return .saved(saved[0])
    }
  }

  private func save(_ record: DatabaseRecord, in database: any RecordDatabase) async -> (
    end: Outcome<SaveResult>, finished: [String]
  ) {
    let finished = Lock<[String]>([])
    let end = await SaveIfNew(record: record, key: "name", database: database)
      .requiring(.account(in: database, retries: .none))
      .finally { outcome in
        finished.withLock { $0.append(outcome.isCancelled ? "cancelled" : "done") }
      }
      .run()
    return (end, finished.withLock(\.self))
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a record is saved once, and finally runs after every outcome`(kind: DatabaseKind)
    async throws
  {
    let database = try kind.make()
    let place = record("1", type: "Place", ["name": "Harbour"])
    let first = await save(place, in: database)
    guard case .result(.saved(let saved)) = first.end else {
      Issue.record("\(first.end)")
      return
    }
    #expect(saved.tag != nil && first.finished == ["done"])
    let again = await save(record("2", type: "Place", ["name": "Harbour"]), in: database)
    guard case .result(.wasThere(let found)) = again.end else {
      Issue.record("\(again.end)")
      return
    }
    #expect(found == saved && again.finished == ["done"])
    #expect(try await QueryRecords("Place", in: database).run().get().count == 1)
  }

  @Test func `an error or a missing account ends the chain`() async throws {
    let place = record("1", type: "Place", ["name": "Harbour"])
    // An error in each of the steps.
    for number in 1...3 {
      let base = MemoryRecordDatabase()
      let database = FaultyRecordDatabase(base) { _, now in
        now == number ? .refusing(RecordError(.notPermitted("no"))) : nil
      }
      let (end, _) = await save(place, in: database)
      #expect("\(end.error as Any)".contains("not permitted"), "\(number): \(end)")
      #expect(try await base.record(place.id) == nil)
    }
    let folder = try TemporaryFolder()
    let missing = SQLiteRecordDatabase(folder.file(), SQLiteOptions(access: .existing))
    let (end, _) = await save(place, in: missing)
    #expect(end.isCancelled)
    #expect(try folder.names.isEmpty)
  }
}
