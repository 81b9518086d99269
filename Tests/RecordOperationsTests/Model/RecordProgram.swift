import CompositeOperations
import RecordOperations

/// A random program of saves, deletions, queries and fetches on a faulty database, and a model of
/// the expected records.
struct RecordProgram {
  private typealias Fields = [String: FieldValue]

  private static let names = (0..<6).map { "\($0)" }
  private static let keys = ["a", "b", "c"]

  private var random: OperationRandomness
  private let base: any RecordDatabase
  private let faults: Faults
  private let database: FaultyRecordDatabase
  private let retries: RetryPolicy

  /// The expected records, without nulls, which a database need not keep.
  private var model: [RecordID: Fields] = [:]
  /// The records as they were last read or saved.
  private var known: [RecordID: DatabaseRecord] = [:]
  /// The records that were received by fetching changes.
  private var copy: [RecordID: DatabaseRecord] = [:]
  private var token: ChangeToken?

  init(seed: UInt64, on kind: DatabaseKind) throws {
    var random = OperationRandomness.seeded(seed)
    let base = try kind.make(
      limits: RecordLimits(
        items: Int.random(in: 1...8, using: &random),
        bytes: Int.random(in: 60...400, using: &random),
        page: Int.random(in: 1...4, using: &random)))
    let faults = Faults(
      seed: random.next(), rate: [0, 0.1, 0.3, 0.6].randomElement(using: &random) ?? 0, base: base)
    self.base = base
    self.faults = faults
    database = FaultyRecordDatabase(base) { request, _ in await faults.next(for: request) }
    retries = RetryPolicy(attempts: Int.random(in: 1...6, using: &random))
    self.random = random
  }

  /// - Returns: The difference from the model after the step, or nil.
  mutating func step() async throws -> String? {
    let before = model
    let summary: String
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<4: summary = try await save()
    case 4..<6: summary = try await delete()
    case 6..<9: summary = try await edit()
    case 9..<11: summary = try await query()
    default: summary = try await fetch()
    }
    if !summary.hasPrefix("✓") { return summary }
    // Compares the stored records with the model.
    let there = try await all()
    let changedExternally = await faults.takeChangedExternally()
    for name in Self.names {
      let id = RecordID("Book", name)
      let real = there[id].map(Self.fields)
      guard real == model[id] || changedExternally.contains(name) && real != nil else {
        return
          "\(summary): \(name) is \(real as Any), expected \(model[id] as Any), was \(before[id] as Any)"
      }
      model[id] = real
    }
    return nil
  }

  // MARK: Steps

  private mutating func save() async throws -> String {
    let policy = SavePolicy.allCases.randomElement(using: &random) ?? .allKeys
    let isAtomic = Int.random(in: 0..<3, using: &random) == 0
    var records: [DatabaseRecord] = []
    for _ in 0..<Int.random(in: 1...6, using: &random) { records.append(randomRecord()) }
    let outcome = await SaveRecords(
      records, in: database, policy: policy, atomic: isAtomic, retries: retries
    ).run()
    // A record that is passed more than once is saved as if its copies were saved one after
    // another.
    let sent = Dictionary(grouping: records, by: \.id)
    let summary = "save \(records.map(\.id.name)) \(policy) \(isAtomic ? "atomically " : "")"
    switch outcome {
    case .result(let saved):
      guard saved.map(\.id) == records.map(\.id) else { return "\(summary): \(saved.map(\.id))" }
      for record in saved { note(record, of: sent, policy) }
      return "✓ \(summary)"
    case .error(let error as RecordBatchError):
      if isAtomic, !error.saved.isEmpty { return "\(summary): saved \(error.saved.map(\.id.name))" }
      let reported = error.saved.map(\.id) + error.failures.compactMap(\.record) + error.unsent
      guard Set(reported) == Set(sent.keys), reported.count == sent.count else {
        return "\(summary): reported \(reported), expected \(sent.keys)"
      }
      for record in error.saved { note(record, of: sent, policy) }
      try await resolve(error.failures) { id, fields in
        sent[id].map { Self.applied($0, policy, to: fields) }
      }
      return "✓ \(summary): \(error)"
    case .error(let error as RecordError):
      guard isAtomic, case .limitExceeded = error.reason else { return "\(summary): \(error)" }
      return "✓ \(summary): \(error)"
    case .error(let error): return "\(summary): \(error)"
    case .cancelled: return "\(summary): cancelled"
    }
  }

  private mutating func delete() async throws -> String {
    let isAtomic = Int.random(in: 0..<3, using: &random) == 0
    let ignoresMissing = Bool.random(using: &random)
    let ids = (0..<Int.random(in: 1...4, using: &random)).map { _ in randomID() }
    let records = ids.map { known[$0] ?? DatabaseRecord($0) }
    let delete =
      Bool.random(using: &random)
      ? DeleteRecords(
        ids, in: database, ignoringMissing: ignoresMissing, atomic: isAtomic, retries: retries)
      : DeleteRecords(
        records, in: database, ignoringMissing: ignoresMissing, atomic: isAtomic, retries: retries)
    let summary = "delete \(ids.map(\.name)) \(isAtomic ? "atomically " : "")"
    switch await delete.run() {
    case .result:
      for id in ids { model[id] = nil }
      return "✓ \(summary)"
    case .error(let error as RecordBatchError):
      if isAtomic, !error.deleted.isEmpty { return "\(summary): deleted \(error.deleted)" }
      for id in error.deleted { model[id] = nil }
      try await resolve(error.failures) { _, _ in nil }
      return "✓ \(summary): \(error)"
    case .error(let error as RecordError):
      guard isAtomic, case .limitExceeded = error.reason else { return "\(summary): \(error)" }
      return "✓ \(summary): \(error)"
    case .error(let error): return "\(summary): \(error)"
    case .cancelled: return "\(summary): cancelled"
    }
  }

  /// Reads records in a context, and changes or deletes them.
  private mutating func edit() async throws -> String {
    let policy = MergePolicy.allCases.randomElement(using: &random) ?? .error
    var plan: [(id: RecordID, change: DatabaseRecord?)] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let isDeleted = Int.random(in: 0..<3, using: &random) == 0
      let record = randomRecord()
      if plan.contains(where: { $0.id == record.id }) { continue }
      plan.append((record.id, isDeleted ? nil : record))
    }
    let container = RecordContainer(database, retries: retries)
    let operation = ContextOperation(in: container, merging: policy) { [plan] context in
      for (id, change) in plan {
        let read = try await context.record(id)
        guard let change else {
          if let read { context.delete(read) }
          continue
        }
        var record = read ?? DatabaseRecord(id)
        for key in change.keys { record[key] = change[key] }
        if read == nil || !change.keys.isEmpty { context.set(record) }
      }
      return .save
    }
    // All of the changes or none, in the model too.
    var changed = model
    for (id, change) in plan {
      changed[id] = change.map { change in
        (model[id] ?? [:]).merging(change.fields) { $1 }.filter { $0.value != .null }
      }
    }
    let summary = "edit \(plan.map(\.id.name)) \(policy)"
    switch await operation.run() {
    case .result(let changes):
      model = changed
      for record in changes.saved { known[record.id] = record }
      return "✓ \(summary)"
    case .error(let error as RecordBatchError):
      if !error.saved.isEmpty || !error.deleted.isEmpty { return "\(summary): \(error)" }
      if error.failures.contains(where: { $0.name == "replyLost" }) {
        let there = try await all().mapValues(Self.fields)
        let changedExternally = await faults.changedExternally
        let ids = plan.map(\.id).filter { !changedExternally.contains($0.name) }
        if ids.allSatisfy({ there[$0] == changed[$0] }) { model = changed }
      }
      return "✓ \(summary): \(error)"
    case .error(is RecordError), .error(is RecordQueryError): return "✓ \(summary) failed"
    case .error(let error): return "\(summary): \(error)"
    case .cancelled: return "\(summary): cancelled"
    }
  }

  private mutating func query() async throws -> String {
    let outcome = await QueryRecords(
      "Book", in: database, where: !Field<Int>("a").isNull,
      sortedBy: [.descending("a"), .ascending("b")], retries: retries
    ).run()
    switch outcome {
    case .result(let records):
      for record in records { known[record.id] = record }
      // A change by another writer between two pages may be visible or not.
      let changedExternally = await faults.changedExternally
      let found = Set(records.map(\.id))
      for (id, fields) in model where !changedExternally.contains(id.name) {
        guard found.contains(id) == (fields["a"] != nil) else { return "query: \(id) \(found)" }
      }
      let values = records.map { $0["a"] }
      for (one, next) in zip(values, values.dropFirst()) where one.precedes(next) {
        return "query: \(one) before \(next)"
      }
      return "✓ query"
    case .error(is RecordQueryError): return "✓ query failed"
    case .error(let error): return "query: \(error)"
    case .cancelled: return "query: cancelled"
    }
  }

  private mutating func fetch() async throws -> String {
    if let memory = base as? MemoryRecordDatabase, Int.random(in: 0..<4, using: &random) == 0 {
      memory.forgetDeletions()
    }
    let received = Lock((copy, token))
    let fetch = FetchChanges(since: token, in: database, retries: retries).applying { page in
      received.withLock { received in
        if page.startsOver { received.0 = [:] }
        for record in page.changed { received.0[record.id] = record }
        for id in page.deleted { received.0[id] = nil }
        received.1 = page.token
      }
    }
    let outcome = await fetch.run()
    (copy, token) = received.withLock(\.self)
    for (id, record) in copy { known[id] = record }
    guard outcome.result != nil else { return "✓ fetch failed" }
    let there = try await all()
    let changedExternally = await faults.changedExternally
    if changedExternally.isEmpty, there.mapValues(Self.state) != copy.mapValues(Self.state) {
      return "fetch: \(copy), expected \(there)"
    }
    return "✓ fetch"
  }

  // MARK: Parts

  private mutating func randomID() -> RecordID {
    RecordID("Book", Self.names.randomElement(using: &random) ?? "0")
  }

  private mutating func randomRecord() -> DatabaseRecord {
    let id = randomID()
    var record = Bool.random(using: &random) ? known[id] ?? DatabaseRecord(id) : DatabaseRecord(id)
    for key in Self.keys where Int.random(in: 0..<3, using: &random) > 0 {
      let isNull = Int.random(in: 0..<5, using: &random) == 0
      record[key] = isNull ? .null : .integer(.random(in: 0..<5, using: &random))
    }
    return record
  }

  private mutating func note(
    _ record: DatabaseRecord, of sent: [RecordID: [DatabaseRecord]], _ policy: SavePolicy
  ) {
    known[record.id] = record
    if let changes = sent[record.id] {
      model[record.id] = Self.applied(changes, policy, to: model[record.id])
    }
  }

  /// After lost replies, determines from the stored records which changes were made.
  private mutating func resolve(
    _ failures: [RecordError], _ change: (RecordID, Fields?) -> Fields?
  ) async throws {
    let there = try await all()
    for failure in failures {
      guard case .replyLost = failure.reason, let id = failure.record else { continue }
      let changed = change(id, model[id])
      if there[id].map(Self.fields) == changed { model[id] = changed }
    }
  }

  private static func applied(
    _ records: [DatabaseRecord], _ policy: SavePolicy, to fields: Fields?
  ) -> Fields {
    records.reduce(fields ?? [:]) { fields, record in
      let base = policy == .replace ? [:] : fields
      return base.merging(record.fields(by: policy)) { $1 }.filter { $0.value != .null }
    }
  }

  private static func fields(_ record: DatabaseRecord) -> Fields {
    record.fields.filter { $0.value != .null }
  }

  /// The part of a record that does not depend on the other records of its type.
  private static func state(_ record: DatabaseRecord) -> DatabaseRecord {
    DatabaseRecord(record.id, fields: fields(record), tag: record.tag)
  }

  private func all() async throws -> [RecordID: DatabaseRecord] {
    let records = try await base.all(RecordQuery("Book"), page: 100)
    return Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
  }
}
