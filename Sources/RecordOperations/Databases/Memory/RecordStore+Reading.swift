extension RecordStore {
  func record(_ id: RecordID, keys: [String]?) -> DatabaseRecord? {
    rows[id]?.record.with(keys)
  }

  func page(
    of query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) throws -> RecordPage {
    let place = try cursor.map { try Place($0, in: query) }
    let matching = rows.values.lazy.map(\.record).filter { record in
      record.id.type == query.type && record.id.zone == query.zone
        && query.predicate?.matches(record) ?? true
    }
    let following = matching.map { Place(of: $0, in: query) }
      .filter { other in place.map { $0.precedes(other, in: query) } ?? true }
    // One more record shows whether this is the last page.
    let found = following.first(count == .max ? count : count + 1) { $0.precedes($1, in: query) }
    let records = found.prefix(count).compactMap { record($0.id, keys: query.keys) }
    let last = found.count > count ? found[count - 1] : nil
    return RecordPage(records, cursor: last?.cursor)
  }

  /// The position of a record in the results of a query.
  private struct Place {
    let values: [FieldValue]
    let id: RecordID

    init(of record: DatabaseRecord, in query: RecordQuery) {
      values = query.order.map { record[$0.key] }
      id = record.id
    }

    init(_ cursor: RecordCursor, in query: RecordQuery) throws {
      guard cursor.values.count == query.order.count + 1,
        case .string(let name)? = cursor.values.last
      else { throw RecordError(.invalid("the cursor belongs to another query or database")) }
      values = Array(cursor.values.dropLast())
      id = RecordID(query.type, name, in: query.zone)
    }

    var cursor: RecordCursor { RecordCursor(values + [.string(id.name)]) }

    func precedes(_ other: Place, in query: RecordQuery) -> Bool {
      for (index, order) in query.order.enumerated() {
        let (one, two) = (values[index], other.values[index])
        if one.precedes(two) { return order.direction == .ascending }
        if two.precedes(one) { return order.direction == .descending }
      }
      return id.precedes(other.id)
    }
  }

  // MARK: Changes

  func changes(
    since token: ChangeToken?, in zone: RecordZone, atMost count: Int
  ) throws -> ChangePage {
    // Without a token, past deletions need not be reported.
    var since = ChangePosition(position: 0, deletions: sequence)
    if let token {
      guard let progress = ChangePosition(token, of: identity), progress.deletions >= horizon,
        progress.position <= sequence
      else { throw RecordError(.tokenExpired) }
      since = progress
    }
    let saved = rows.values.map { ($0.sequence, $0.record.id) }
      .filter { $0.0 > since.position }
    let deleted = tombstones.map { ($0.value, $0.key) }.filter { $0.0 > since.deletions }
    let new = (saved + deleted).filter { $0.1.zone == zone }.sorted { $0.0 < $1.0 }
    let reported = new.prefix(count)
    let hasMore = reported.count < new.count
    let position = hasMore ? reported.last?.0 ?? since.position : sequence
    let next = ChangePosition(position: position, deletions: max(position, since.deletions))
    return ChangePage(
      changed: reported.compactMap { rows[$0.1]?.record },
      deleted: reported.map(\.1).filter { rows[$0] == nil }, token: next.token(of: identity),
      hasMore: hasMore)
  }

  /// The position of a reader in the changes.
  private struct ChangePosition {
    /// The sequence number up to which saved records were reported.
    let position: Int
    /// The sequence number up to which deletions were reported, or need not be.
    let deletions: Int

    init(position: Int, deletions: Int) {
      self.position = position
      self.deletions = deletions
    }

    init?(_ token: ChangeToken, of identity: String) {
      let parts = token.description.split(separator: " ")
      guard parts.count == 3, parts[0] == identity, let position = Int(parts[1]),
        let deletions = Int(parts[2])
      else { return nil }
      self.init(position: position, deletions: deletions)
    }

    func token(of identity: String) -> ChangeToken {
      ChangeToken("\(identity) \(position) \(deletions)")
    }
  }
}

extension Sequence {
  /// Returns the first elements in an order, without keeping all elements in memory.
  ///
  /// - Complexity: O(*n* log `count`).
  fileprivate func first(
    _ count: Int, by precedes: (Element, Element) -> Bool
  ) -> [Element] {
    var first: [Element] = []
    var last: Element?
    for element in self {
      if let last, !precedes(element, last) { continue }
      first.append(element)
      if first.count > count, first.count - count > count {
        first.sort(by: precedes)
        first.removeLast(first.count - count)
        last = first.last
      }
    }
    first.sort(by: precedes)
    return Array(first.prefix(count))
  }
}
