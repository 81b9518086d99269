import CompositeOperations
import RecordOperations
import Testing

/// The contexts of the article *Coming from FRCoreDataOperation*: a background import that updates
/// other contexts, and blocks that share a context.
@Suite struct BackgroundImportTests {
  private struct Destination: Codable, Identifiable, RecordConvertible {
    var id: String { name }
    let name: String
    var visits: Int
  }

  private struct ImportDestinations: ComposableOperation {
    let arrived: [Destination]
    let travels: RecordContainer

    func perform(in context: OperationContext) async throws -> ContextChanges {
      let load = ContextOperation(in: travels, merging: .objectWins) { context in
        let names = arrived.map(\.name)
        let found = try await context.records(
          RecordQuery("Destination", where: Field("name").isOne(of: names)))
        let known = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
        for destination in arrived {
          let new = try destination.record()
          let record = try known[new.id].map { try destination.updating($0) } ?? new
          context.set(record)
        }
        return .save
      }
      return try await context.run(load)
    }
  }

  private func travels(_ kind: DatabaseKind, _ fields: [String: FieldValue]...) async throws
    -> RecordContainer
  {
    let database = try kind.make()
    for fields in fields {
      guard case .string(let name)? = fields["name"] else { continue }
      try await database.save(record(name, type: "Destination", fields))
    }
    return RecordContainer(database, retries: .none)
  }

  private func visits(_ travels: RecordContainer) async throws -> [String: FieldValue] {
    let all = try await travels.database.all(RecordQuery("Destination"))
    return Dictionary(uniqueKeysWithValues: all.map { ($0.id.name, $0["visits"]) })
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a background import updates an existing context`(kind: DatabaseKind)
    async throws
  {
    let travels = try await travels(
      kind, ["name": "Argentina", "visits": 1], ["name": "Wales", "visits": 3, "note": "rain"])
    let main = travels.context()
    let wales = RecordID("Destination", "Wales")
    var changed = try #require(try await main.record(wales))
    changed["note"] = "sun"
    main.set(changed)
    var merges = main.merges.makeAsyncIterator()

    let load = ImportDestinations(
      arrived: [
        Destination(name: "Argentina", visits: 1), Destination(name: "Australia", visits: 1),
        Destination(name: "Wales", visits: 4),
      ], travels: travels)
    let saved = try await load.run().get()
    // Unchanged records are not saved again.
    #expect(saved.saved.map(\.id.name) == ["Australia", "Wales"])
    #expect(await merges.next()?.saved == saved.saved)

    // The pending change remains on top of the saved fields.
    let seen = try #require(try await main.record(wales))
    #expect(seen["visits"] == 4 && seen["note"] == "sun" && seen.changedKeys == ["note"])
    #expect(try await main.records(RecordQuery("Destination")).count == 3)
    try await main.save()
    let now = try #require(try await travels.database.record(wales))
    #expect(now["visits"] == 4 && now["note"] == "sun")
  }

  @Test(
    arguments: DatabaseKind.allCases,
    [(.error, 9), (.storeWins, 9), (.objectWins, 4)] as [(MergePolicy, FieldValue)])
  func `the merge policy determines which value remains`(
    kind: DatabaseKind, expected: (policy: MergePolicy, visits: FieldValue)
  ) async throws {
    let travels = try await travels(kind, ["name": "Wales", "visits": 3, "note": "rain"])
    let load = ContextOperation(in: travels, merging: expected.policy) { context in
      var wales = try #require(
        try await context.record(RecordID("Destination", "Wales")))
      wales["visits"] = 4
      context.set(wales)
      // Another writer saves in the meantime.
      try await travels.database.save(
        record("Wales", type: "Destination", ["visits": 9, "note": "wind"]))
      return .save
    }
    let outcome = await load.run()
    #expect((outcome.error is RecordBatchError) == (expected.policy == .error), "\(outcome)")
    let now = try await travels.database.record(RecordID("Destination", "Wales"))
    #expect(now?["visits"] == expected.visits && now?["note"] == "wind")
  }

  @Test(arguments: DatabaseKind.allCases, [false, true])
  func `blocks share a context, and each decides whether to save it`(
    kind: DatabaseKind, savesAtEnd: Bool
  ) async throws {
    let travels = try await travels(
      kind, ["name": "Wales", "visits": 3], ["name": "Atlantis", "visits": 0])
    let tidy = ContextOperation(in: travels, savingAtEnd: savesAtEnd) { context in
      let unseen = RecordQuery("Destination", where: Field("visits") == 0)
      for destination in try await context.records(unseen) { context.delete(destination) }
      return .keep
    }.adding { context in
      var count = DatabaseRecord("Count", "destinations")
      count["all"] = .integer(
        Int64(try await context.records(RecordQuery("Destination")).count))
      context.set(count)
      return .save
    }.adding { context in
      context.delete(RecordID("Destination", "Wales"))
      return .keep
    }
    let changes = try await tidy.run().get()
    #expect(changes.saved.map { $0["all"] } == [1])
    #expect(changes.deleted.map(\.name) == (savesAtEnd ? ["Atlantis", "Wales"] : ["Atlantis"]))
    #expect(try await visits(travels) == (savesAtEnd ? [:] : ["Wales": 3]))
  }

  @Test func `a failed save ends the operation, and later blocks do not run`() async throws {
    let travels = try await travels(.memory, ["name": "Wales", "visits": 3])
    let load = ContextOperation(in: travels) { context in
      // A new record, although one with this name exists.
      context.set(record("Wales", type: "Destination", ["visits": 1]))
      return .save
    }.adding { _ in
      Issue.record("the operation continued")
      return .save
    }
    let error = try #require(await load.run().error as? RecordBatchError)
    #expect(error.failures.map(\.record) == [RecordID("Destination", "Wales")])
    #expect(try await visits(travels) == ["Wales": 3])
  }
}
