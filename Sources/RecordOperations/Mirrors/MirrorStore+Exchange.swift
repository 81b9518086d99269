/// Remote states that take unique values from one another.
extension MirrorStore {
  /// Stores the records that wait only for the unique values of each other.
  ///
  /// - Parameter holders: The records that have the unique values which others need.
  /// - Returns: The other records.
  mutating func exchange(
    _ waiting: [DatabaseRecord], _ holders: [RecordID: RecordID]
  ) throws -> [DatabaseRecord] {
    if holders.isEmpty { return waiting }
    let records = Dictionary(waiting.map { ($0.id, $0) }) { first, _ in first }
    var exchange = Exchange(store: self, records: records)
    for record in waiting {
      guard let holder = holders[record.id], exchange.records[holder] != nil,
        exchange.records[record.id] != nil
      else { continue }
      for (id, result) in try exchange.settle(record.id) {
        exchange.records[id] = nil
        if case .success = result { exchange.stored.insert(id) }
      }
    }
    self = exchange.store
    return waiting.filter { !exchange.stored.contains($0.id) }
  }

  private struct Exchange: UniqueExchanging {
    var store: MirrorStore
    /// The records that may still be stored.
    var records: [RecordID: DatabaseRecord]
    var stored: Set<RecordID> = []

    mutating func attempt(_ id: RecordID) throws -> UniqueAttempt<Void> {
      guard let record = records[id] else {
        preconditionFailure("the record must be one that waits")
      }
      return try store.attempt(record)
    }

    mutating func setAside(_ holder: UniqueHolder, number: Int) throws -> Bool {
      guard let remote = records[holder.id], let local = try store.local(holder.id) else {
        return false
      }
      let columns = holder.columns.filter { !remote[$0].isSame(as: local[$0]) }
      let column = try store.withTriggersOnce(for: holder.id.type) {
        try store.connection.setAside(holder.id, in: columns, number: number)
      }
      guard let column else { return false }
      store.setAside[holder.id, default: [:]][column] = local[column]
      return true
    }

    mutating func savepoint<Result>(
      _ body: (inout Exchange) throws -> Result
    ) throws -> Result {
      let records = records
      return try store.savepoint { store in
        var exchange = Exchange(store: store, records: records)
        defer { store = exchange.store }
        return try body(&exchange)
      }
    }
  }
}
