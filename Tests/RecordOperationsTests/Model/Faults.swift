import CompositeOperations
import RecordOperations

/// Random faults of a database.
actor Faults {
  private var random: OperationRandomness
  private let rate: Double
  private let base: any RecordDatabase
  /// The names of the records that another writer has changed since they were last taken.
  private(set) var changedExternally: Set<String> = []

  init(seed: UInt64, rate: Double, base: any RecordDatabase) {
    random = OperationRandomness.seeded(seed)
    self.rate = rate
    self.base = base
  }

  func takeChangedExternally() -> Set<String> {
    defer { changedExternally = [] }
    return changedExternally
  }

  func next(for request: FaultyRecordDatabase.Request) async -> FaultyRecordDatabase.Fault? {
    guard Double.random(in: 0..<1, using: &random) < rate else { return nil }
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: return .losingReply
    case 2, 3: return .losingRequest
    case 4: return .refusing(RecordError(.unavailable("busy")))
    case 5:
      if case .modify(let batch) = request, batch.changes.count > 1 {
        return .refusing(RecordError(.limitExceeded))
      }
      return .refusing(RecordError(.unavailable("busy")))
    case 6:
      let name = "\(Int.random(in: 0..<6, using: &random))"
      let isRetriable = Bool.random(using: &random)
      return .failing { change in
        guard change.id.name == name else { return nil }
        return RecordError(isRetriable ? .unavailable("busy") : .notPermitted("no"))
      }
    default:
      // Another writer changes an existing record.
      let id = RecordID("Book", "\(Int.random(in: 0..<6, using: &random))")
      guard let found = try? await base.lookup([id], keys: nil)[id] else { return nil }
      var record = found
      record["a"] = 9
      _ = try? await base.modify(RecordBatch([.save(record, .changedKeys)]))
      changedExternally.insert(id.name)
      return nil
    }
  }
}
