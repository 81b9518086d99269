/// Changes that are stored in one transaction.
struct CollectedChanges: Sendable {
  /// In the order of their names, so that the pages of indexes are written once, but each after
  /// those that it refers to, where possible.
  fileprivate(set) var changed: [DatabaseRecord] = []
  fileprivate(set) var deleted: [RecordID] = []
  /// The errors of records that could not be read.
  fileprivate(set) var failed: [RecordError] = []
  let token: ChangeToken
  /// Whether the records that were fetched before are void.
  let startsOver: Bool
  /// Whether the mirror has never fetched changes.
  let isFirst: Bool
  /// Whether more changes probably follow.
  let isFull: Bool
}

/// Collects the changes of several pages for a transaction.
struct FetchedChangeCollector {
  private enum Change {
    case saved(DatabaseRecord)
    case deleted(RecordID)
    case failed(RecordID, RecordError)

    var id: RecordID {
      switch self {
      case .saved(let record): record.id
      case .deleted(let id), .failed(let id, _): id
      }
    }
  }

  private let types: Set<String>
  private let largestTransaction: Int
  /// The number of changes for the next transaction. The first transactions are smaller, so that
  /// storing begins early.
  private var transactionSize: Int
  private let isFirst: Bool
  private var token: ChangeToken?
  private var startsOver = false
  private var hasNewToken = false
  /// In the order in which they were fetched.
  private var changes: [Change] = []

  init(for mirror: RecordMirror, since token: ChangeToken?) {
    types = Set(mirror.types)
    largestTransaction = mirror.transactionSize
    transactionSize = min(largestTransaction, 1_000)
    self.token = token
    isFirst = token == nil
  }

  /// Adds a page.
  ///
  /// - Returns: The changes to store, if there are enough.
  mutating func add(_ page: FetchedChanges) -> CollectedChanges? {
    if page.startsOver { (changes, startsOver) = ([], true) }
    for record in page.changed where types.contains(record.id.type) {
      changes.append(.saved(record))
    }
    for id in page.deleted where types.contains(id.type) { changes.append(.deleted(id)) }
    for error in page.failed {
      guard let id = error.record, types.contains(id.type) else { continue }
      changes.append(.failed(id, error))
    }
    hasNewToken = hasNewToken || page.token != token
    token = page.token
    guard changes.count >= transactionSize else { return nil }
    defer { transactionSize = min(largestTransaction, transactionSize * 2) }
    return take()
  }

  /// Returns the changes, and removes them; nil if nothing has to be stored.
  mutating func take() -> CollectedChanges? {
    guard let token, !changes.isEmpty || startsOver || hasNewToken else { return nil }
    defer { (changes, startsOver, hasNewToken) = ([], false, false) }
    var collected = CollectedChanges(
      token: token, startsOver: startsOver, isFirst: isFirst,
      isFull: changes.count >= transactionSize)
    collected.changed.reserveCapacity(changes.count)
    let keys = changes.indices.map { SortKey($0, changes[$0].id) }.sorted { one, other in
      one.prefix == other.prefix
        ? precedes(one.index, other.index) : one.prefix < other.prefix
    }
    for (place, key) in keys.enumerated() {
      let id = changes[key.index].id
      // Only the last change of a record counts.
      if place + 1 < keys.count, changes[keys[place + 1].index].id == id { continue }
      switch changes[key.index] {
      case .saved(let record): collected.changed.append(record)
      case .deleted(let id): collected.deleted.append(id)
      case .failed(_, let error): collected.failed.append(error)
      }
    }
    collected.changed = collected.changed.orderedByReferences
    return collected
  }

  /// Whether a change precedes another one in the order of the IDs and of their arrival.
  private func precedes(_ one: Int, _ other: Int) -> Bool {
    let (id, otherID) = (changes[one].id, changes[other].id)
    return id == otherID ? one < other : id.precedes(otherID)
  }

  /// Decides most comparisons without the names, and is moved instead of the change.
  private struct SortKey {
    /// The first bytes of the name, as a number with the same order.
    let prefix: UInt64
    let index: Int

    init(_ index: Int, _ id: RecordID) {
      self.index = index
      var (prefix, shift) = (UInt64(0), UInt64(64))
      for byte in id.name.utf8.prefix(8) {
        shift -= 8
        prefix |= UInt64(byte) << shift
      }
      self.prefix = prefix
    }
  }
}
