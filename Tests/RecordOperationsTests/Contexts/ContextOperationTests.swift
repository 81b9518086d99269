import CompositeOperations
import CompositeOperationsTestKit
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ContextOperationTests {
  private let id = RecordID("Book", "1")

  private func library(
    _ kind: DatabaseKind = .memory, _ records: DatabaseRecord...
  ) async throws -> RecordContainer {
    let database = try kind.make()
    for record in records { try await database.save(record) }
    return RecordContainer(database, retries: RetryPolicy(attempts: 3))
  }

  private func all(_ library: RecordContainer) async throws -> [String: FieldValue] {
    let records = try await QueryRecords("Book", in: library.database).run().get()
    return Dictionary(uniqueKeysWithValues: records.map { ($0.id.name, $0["a"]) })
  }

  @Test(arguments: DatabaseKind.allCases)
  func `D7: blocks run in order, share their changes, and decide whether to save them`(
    kind: DatabaseKind
  ) async throws {
    let library = try await library(kind, record("1", ["a": 1]), record("2", ["a": 2]))
    let seen = Lock<[[String]]>([])
    @Sendable func recordSeen(_ context: RecordContext) async throws {
      let found = try await context.records(RecordQuery("Book", sortedBy: [.ascending("a")]))
      seen.withLock { $0.append(found.map { "\($0.id.name) \($0["a"].displayText)" }) }
    }
    let operation = ContextOperation(in: library) { context in
      var one = try #require(try await context.record(RecordID("Book", "1")))
      one["a"] = 9
      context.set(one)
      context.set(record("3", ["a": 0]))
      try await recordSeen(context)
      return .keep
    }.adding { context in
      #expect(context.hasChanges)
      #expect(try await context.record(RecordID("Book", "1"))?["a"] == 9)
      context.delete(RecordID("Book", "2"))
      #expect(try await context.record(RecordID("Book", "2")) == nil)
      try await recordSeen(context)
      return .save
    }.adding { context in
      #expect(!context.hasChanges)
      context.set(record("4", ["a": 4]))
      return .keep
    }
    let changes = try await operation.run().get()
    #expect(seen.withLock(\.self) == [["3 0", "2 2", "1 9"], ["3 0", "1 9"]])
    #expect(Set(changes.saved.map(\.id.name)) == ["1", "3"])
    #expect(changes.saved.allSatisfy { $0.tag != nil })
    #expect(changes.deleted == [RecordID("Book", "2")])
    // The change of the last block was discarded.
    #expect(try await all(library) == ["1": 9, "3": 0])
  }

  @Test(arguments: [false, true])
  func `savingAtEnd determines whether the remaining changes are saved or discarded`(saves: Bool)
    async throws
  {
    let library = try await library()
    let operation = ContextOperation(in: library, savingAtEnd: saves) { context in
      context.set(record("1", ["a": 1]))
      return .keep
    }
    let changes = try await operation.run().get()
    #expect(changes.saved.count == (saves ? 1 : 0))
    #expect(try await all(library) == (saves ? ["1": 1] : [:]))
  }

  @Test(arguments: DatabaseKind.allCases)
  func `D7: a failed save throws an error, saves nothing, and keeps the changes`(
    kind: DatabaseKind
  ) async throws {
    let library = try await library(kind, record("1", ["a": 1]))
    let context = library.context()
    var one = try #require(try await context.record(id))
    one["a"] = 2
    context.set(record("0", ["a": 0]))
    context.set(one)
    try await library.database.save(record("1", ["a": 3]))
    let error = await #expect(throws: RecordBatchError.self) { try await context.save() }
    #expect(error?[id]?.name == "conflict" && error?.saved.isEmpty == true)
    #expect(try await all(library) == ["1": 3])
    #expect(context.hasChanges)
    // An operation fails with the same kind of error.
    let operation = ContextOperation(in: library) { context in
      context.set(record("1", ["a": 4]))
      return .save
    }
    #expect(await operation.run().error is RecordBatchError)
    // The changes can still be saved by a merge.
    let saved = try await context.save(merging: .objectWins)
    #expect(saved.saved.count == 2)
    #expect(try await all(library) == ["0": 0, "1": 2])
    #expect(!context.hasChanges)
  }

  @Test(arguments: [nil, 2, .max] as [Int?])
  func `changed records are sorted among the others, after those with equal values`(
    limit: Int?
  ) async throws {
    let library = try await library(
      .memory, record("1", ["a": 1]), record("2", ["a": 2]), record("3", ["a": 3]))
    let context = library.context()
    var one = try #require(try await context.record(id))
    one["a"] = 3
    context.set(one)
    context.set(record("6", ["a": 3]))
    context.set(record("4", ["a": 2]))
    context.set(record("7", ["a": 1]))
    context.delete(RecordID("Book", "7"))
    context.set(record("5", ["a": 0]))
    func names(_ order: RecordOrder...) async throws -> [String] {
      try await context.records(RecordQuery("Book", sortedBy: order), limit: limit).map(\.id.name)
    }
    func first(_ names: [String]) -> [String] { Array(names.prefix(limit ?? .max)) }
    #expect(try await names() == first(["2", "3", "1", "6", "4", "5"]))
    #expect(try await names(.ascending("a")) == first(["5", "2", "4", "3", "1", "6"]))
    #expect(try await names(.descending("a")) == first(["3", "1", "6", "2", "4", "5"]))
  }

  @Test func `setting an unmodified record is not a change`() async throws {
    let library = try await library(.memory, record("1", ["a": 1]))
    let context = library.context()
    let one = try #require(try await context.record(id))
    context.set(one)
    #expect(!context.hasChanges)
    #expect(try await context.save().saved.isEmpty)
    #expect(try await library.database.record(id)?.tag == one.tag)
  }

  /// The context changes the fields `a` and `b`, and another writer changes `b` and `c`.
  @Test(
    arguments: DatabaseKind.allCases,
    [(.storeWins, ["a": 1, "b": 2, "c": 2]), (.objectWins, ["a": 1, "b": 1, "c": 2])]
      as [(MergePolicy, [String: FieldValue])])
  func `D7: the merge policy resolves conflicting fields`(
    kind: DatabaseKind, expected: (MergePolicy, [String: FieldValue])
  ) async throws {
    let library = try await library(kind, record("1", ["a": 0, "b": 0, "c": 0, "d": 0]))
    let context = library.context()
    var mine = try #require(try await context.record(id))
    mine["a"] = 1
    mine["b"] = 1
    context.set(mine)
    try await library.database.save(record("1", ["b": 2, "c": 2]))
    let saved = try await context.save(merging: expected.0)
    let now = try #require(try await library.database.record(id))
    for (key, value) in expected.1 { #expect(now[key] == value, "\(key)") }
    #expect(now["d"] == 0)
    #expect(saved.saved == [now])
  }

  private enum LocalChange: CaseIterable { case changed, deleted, created }
  private enum RemoteChange: CaseIterable { case changed, deleted }

  @Test func `D7: the merge policy resolves conflicts between changes and deletions`() async throws
  {
    let cases: [(LocalChange, RemoteChange, MergePolicy, FieldValue?)] = [
      (.changed, .deleted, .storeWins, nil), (.changed, .deleted, .objectWins, 1),
      (.deleted, .changed, .storeWins, 2), (.deleted, .changed, .objectWins, nil),
      (.deleted, .deleted, .storeWins, nil), (.deleted, .deleted, .objectWins, nil),
      (.created, .changed, .storeWins, 2), (.created, .changed, .objectWins, 1),
    ]
    for kind in DatabaseKind.allCases {
      for (mine, theirs, policy, expected) in cases {
        let library = try await library(kind)
        if mine != .created { try await library.database.save(record("1", ["a": 0, "b": 0])) }
        let context = library.context()
        let read = try await context.record(id)
        switch mine {
        case .created: context.set(record("1", ["a": 1]))
        case .changed:
          var changed = try #require(read)
          changed["a"] = 1
          context.set(changed)
        case .deleted: context.delete(try #require(read))
        }
        switch theirs {
        case .changed: try await library.database.save(record("1", ["a": 2]))
        case .deleted:
          _ = try await DeleteRecords([id], in: library.database).run().get()
        }
        try await context.save(merging: policy)
        let left = try await library.database.record(id)
        #expect(left?["a"] == expected, "\(kind) \(mine) \(theirs) \(policy)")
        // Its other fields are restored.
        if mine == .changed, expected == 1 { #expect(left?["b"] == 0) }
        #expect(!context.hasChanges)
      }
    }
  }

  @Test func `D7: a save updates every other context of the container`() async throws {
    let library = try await library(.memory, record("1", ["a": 0, "b": 0]))
    let main = library.context()
    let other = library.context()
    var mine = try #require(try await main.record(id))
    mine["a"] = 1
    main.set(mine)
    var merges = main.merges.makeAsyncIterator()
    var others = other.merges.makeAsyncIterator()
    let operation = ContextOperation(in: library) { context in
      var record = try #require(try await context.record(RecordID("Book", "1")))
      record["b"] = 2
      context.set(record)
      return .save
    }
    let changes = try await operation.run().get()
    #expect(await merges.next()?.saved == changes.saved)
    #expect(await others.next()?.saved == changes.saved)
    // The pending change is on top of the saved record, so its save is not a conflict.
    let merged = try #require(try await main.record(id))
    #expect(merged["a"] == 1 && merged["b"] == 2 && merged.changedKeys == ["a"])
    try await main.save()
    let now = try await library.database.record(id)
    #expect(now?["a"] == 1 && now?["b"] == 2)
  }

  /// A save by another context is merged like a save by another program.
  @Test(arguments: MergePolicy.allCases)
  func `D7: conflicting changes of two contexts are merged by the policy`(
    policy: MergePolicy
  ) async throws {
    let library = try await library(.memory, record("1", ["a": 0, "b": 0]))
    let (main, other) = (library.context(), library.context())
    var mine = try #require(try await main.record(id))
    mine["a"] = 1
    main.set(mine)
    var theirs = try #require(try await other.record(id))
    theirs["a"] = 2
    theirs["b"] = 2
    other.set(theirs)
    try await other.save()
    if policy == .error {
      await #expect(throws: RecordBatchError.self) { try await main.save(merging: policy) }
    } else {
      try await main.save(merging: policy)
    }
    let now = try await library.database.record(id)
    #expect(now?["a"] == (policy == .objectWins ? 1 : 2) && now?["b"] == 2)
  }

  @Test(arguments: DatabaseKind.allCases, [false, true])
  func `D7: a record that is deleted and created again keeps no old fields`(
    kind: DatabaseKind, isTagged: Bool
  ) async throws {
    for policy in MergePolicy.allCases {
      let library = try await library(kind, record("1", ["a": 1, "b": 2]))
      let context = library.context()
      if isTagged {
        // A part of the record, which does not show its other fields.
        let read = try await context.records(RecordQuery("Book", keys: ["a"]))
        context.delete(try #require(read.first))
      } else {
        context.delete(id)
      }
      context.set(record("1", ["a": 5]))
      context.set(record("1", ["c": 6]))
      #expect(try await context.record(id)?["a"] == .null)
      if !isTagged || policy == .objectWins {
        // A save by another writer makes no difference.
        try await library.database.save(record("1", ["d": 9]))
      }
      try await context.save(merging: policy)
      let now = try #require(try await library.database.record(id))
      let left = now.keys.filter { now[$0] != .null }
      #expect(left == ["c"] && now["c"] == 6, "\(now)")
      #expect(!context.hasChanges)
    }
  }

  enum LaterChange: CaseIterable { case changed, created, deleted, deletedByName }

  /// Sets or deletes a record while it is being saved.
  @Test(arguments: LaterChange.allCases, [false, true])
  func `D7: a change during a save is based on the saved record`(
    laterChange: LaterChange, isNew: Bool
  ) async throws {
    let base = MemoryRecordDatabase()
    if !isNew { try await base.save(record("1", ["a": 0, "b": 0])) }
    let gate = Gate()
    let database = FaultyRecordDatabase(base) { request, number in
      if case .modify = request, number <= 2 { try? await gate.pass() }
      return nil
    }
    let library = RecordContainer(database, retries: .none)
    let context = library.context()
    var mine = try await context.record(id) ?? DatabaseRecord(id)
    mine["a"] = 1
    context.set(mine)
    let first = Task { try await context.save() }
    await gate.waitForArrivals(1)
    switch laterChange {
    case .changed:
      mine["a"] = 2
      context.set(mine)
    case .created: context.set(record("1", ["c": 2]))
    case .deleted: context.delete(mine)
    case .deletedByName: context.delete(id)
    }
    gate.open()
    #expect(try await first.value.saved.first?["a"] == 1)
    #expect(context.hasChanges)
    try await context.save()
    #expect(!context.hasChanges)
    let now = try await base.record(id)
    switch laterChange {
    case .changed: #expect(now?["a"] == 2 && now?["b"] == (isNew ? .null : 0))
    case .created:
      #expect(now?["c"] == 2 && now?["a"] == .null && now?["b"] == .null)
    case .deleted, .deletedByName: #expect(now == nil)
    }
  }

  @Test func `a new record that is deleted during its failing save leaves no change`() async throws
  {
    let gate = Gate()
    let database = FaultyRecordDatabase(MemoryRecordDatabase()) { _, number in
      guard number == 1 else { return nil }
      try? await gate.pass()
      return .refusing(RecordError(.notPermitted("no")))
    }
    let context = RecordContainer(database, retries: .none).context()
    context.set(record("1", ["a": 1]))
    let first = Task { try await context.save() }
    await gate.waitForArrivals(1)
    context.delete(id)
    #expect(context.hasChanges)
    gate.open()
    await #expect(throws: RecordBatchError.self) { try await first.value }
    #expect(!context.hasChanges)
  }

  @Test func `concurrent saves of a context run one after another`() async throws {
    let library = try await library()
    let context = library.context()
    try await withThrowingTaskGroup { group in
      for index in 0..<20 {
        context.set(record("\(index)", ["a": 1]))
        group.addTask { try await context.save() }
      }
      var count = 0
      for try await changes in group { count += changes.saved.count }
      #expect(count == 20)
    }
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a partially read record is found by fields that were not read`(
    kind: DatabaseKind
  ) async throws {
    let library = try await library(
      kind, record("1", ["a": 1, "b": 2]), record("2", ["a": 2, "b": 3]))
    let context = library.context()
    for var book in try await context.records(RecordQuery("Book", keys: ["a"])) {
      #expect(!book.has("b"))
      book["a"] = 9
      context.set(book)
    }
    let found = try await context.records(
      RecordQuery("Book", where: Field("b") == 2, sortedBy: [.descending("b")], keys: ["b"]))
    var one = try #require(found.first)
    #expect(found.count == 1 && one["a"] == 9 && one["b"] == 2 && one.changedKeys == ["a"])
    one["b"] = 7
    context.set(one)
    try await context.save()
    let now = try await library.database.record(one.id)
    #expect(now?["a"] == 9 && now?["b"] == 7)
  }

  @Test func `deleting a record that was read without a tag is a conflict`()
    async throws
  {
    let folder = try TemporaryFolder()
    try execute(
      ["CREATE TABLE Book (name TEXT PRIMARY KEY, a)", "INSERT INTO Book VALUES ('1', 1)"],
      in: folder.file())
    let database = SQLiteRecordDatabase(folder.file())
    let read = try #require(try await database.record(id))
    let error = await DeleteRecords([read], in: database).run().error as? RecordBatchError
    #expect(error?.failures.map(\.name) == ["conflict"])
    let context = RecordContainer(database).context()
    context.delete(read)
    await #expect(throws: RecordBatchError.self) { try await context.save() }
    try await context.save(merging: .objectWins)
    #expect(try await database.record(id) == nil)
  }

  @Test
  func `an unshared context does not update others, and a container does not retain contexts`()
    async throws
  {
    let library = try await library()
    let main = library.context()
    var updates = main.merges.makeAsyncIterator()
    for isShared in [false, true] {
      let operation = ContextOperation(in: library, shared: isShared) { context in
        context.set(record("\(isShared)", ["a": 1]))
        return .save
      }
      _ = try await operation.run().get()
    }
    #expect(await updates.next()?.saved.map(\.id.name) == ["true"])
    #expect(library.contextCount == 1)
    var last: RecordContext? = library.context()
    #expect(library.contextCount == 2 && last != nil)
    last = nil
    #expect(library.contextCount == 1)
  }

  @Test
  func `creating and deleting a record cancels out, and recreating one replaces it`()
    async throws
  {
    let library = try await library(.memory, record("1", ["a": 1, "b": 1]))
    let context = library.context()
    context.set(record("2"))
    context.delete(RecordID("Book", "2"))
    #expect(!context.hasChanges)
    let one = try #require(try await context.record(id))
    context.delete(one)
    context.set(record("1", ["a": 5]))
    try await context.save()
    #expect(try await library.database.record(id)?["a"] == 5)
    context.set(record("3"))
    context.reset()
    #expect(!context.hasChanges)
    #expect(try await context.save().isEmpty)
  }

  @Test func `an error, or a cancellation between two blocks, ends the operation`() async throws {
    struct Wrong: Error {}
    let library = try await library()
    let failing = ContextOperation(in: library, savingAtEnd: true) { context in
      context.set(record("1", ["a": 1]))
      return .save
    }.adding { context in
      context.set(record("2", ["a": 1]))
      throw Wrong()
    }.adding { _ in
      Issue.record("the operation continued")
      return .save
    }
    #expect(await failing.run().error is Wrong)
    #expect(try await all(library) == ["1": 1])
    let gate = Gate()
    let run = ContextOperation(in: library, savingAtEnd: true) { context in
      context.set(record("3"))
      try? await gate.pass()
      return .keep
    }.adding { _ in
      Issue.record("the operation continued")
      return .save
    }.start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(try await all(library) == ["1": 1])
  }

  @Test func `requests of a context are children of its operation, and are retried`() async throws {
    let base = MemoryRecordDatabase()
    let database = FaultyRecordDatabase(base) { _, number in
      [1, 3].contains(number) ? .losingReply : nil
    }
    let library = RecordContainer(database, retries: RetryPolicy(attempts: 3))
    let recorder = RecordingObserver()
    let operation = ContextOperation(in: library) { context in
      let before = try await context.record(RecordID("Book", "1"))
      #expect(before == nil)
      context.set(record("1", ["a": 1]))
      return .save
    }
    #expect(await operation.observed(by: recorder).run().result?.saved.count == 1)
    let depths = recorder.events.compactMap { event in
      if case .started = event.kind { event.path.names.count } else { nil }
    }
    #expect(depths.max() ?? 0 >= 2)
    #expect(try await base.record(id)?["a"] == 1)
  }

  @Test func `a database without atomic batches is refused`() async throws {
    let library = RecordContainer(MemoryRecordDatabase(capabilities: [.sorting]))
    let operation = ContextOperation(in: library) { context in
      context.set(record("1"))
      return .save
    }
    #expect((await operation.run().error as? RecordError)?.name == "unsupported")
  }
}

extension FieldValue {
  fileprivate var displayText: String {
    if case .integer(let number) = self { "\(number)" } else { "\(self)" }
  }
}
