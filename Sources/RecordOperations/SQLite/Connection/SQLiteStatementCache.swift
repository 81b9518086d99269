/// Statements that were prepared, and are kept for the next time: those that were used last.
struct SQLiteStatementCache {
  private static let capacity = 256

  /// One of them. It is a class so that its use changes nothing in the table of them.
  final class Entry {
    let statement: SQLiteStatement
    fileprivate(set) var isInUse = true
    fileprivate var lastUse = 0

    fileprivate init(_ statement: SQLiteStatement) { self.statement = statement }
  }

  private var entries: [String: Entry] = [:]
  private var useCount = 0

  /// A statement that nobody uses.
  ///
  /// - Parameter make: Prepares one. That is not kept if one with the same text is in use.
  /// - Throws: What `make` throws.
  mutating func take(_ sql: String, _ make: () throws -> SQLiteStatement) rethrows -> Entry {
    if let entry = entries[sql] {
      guard entry.isInUse else {
        entry.isInUse = true
        return entry
      }
      return Entry(try make())
    }
    let entry = Entry(try make())
    if entries.count >= Self.capacity { removeOldest() }
    entries[sql] = entry
    return entry
  }

  mutating func giveBack(_ entry: Entry) {
    useCount += 1
    entry.lastUse = useCount
    entry.isInUse = false
  }

  private mutating func removeOldest() {
    let oldest = entries.filter { !$0.value.isInUse }.min { $0.value.lastUse < $1.value.lastUse }
    if let oldest { entries[oldest.key] = nil }
  }
}
