/// A cache of the most recently used prepared statements.
struct SQLiteStatementCache {
  private static let capacity = 256

  /// A cached statement. A class, so that using it does not change the dictionary.
  final class Entry {
    let statement: SQLiteStatement
    fileprivate(set) var isInUse = true
    fileprivate var lastUse = 0

    fileprivate init(_ statement: SQLiteStatement) { self.statement = statement }
  }

  private var entries: [String: Entry] = [:]
  private var useCount = 0

  /// Returns a statement that is not in use.
  ///
  /// - Parameter make: Prepares a statement. It is not cached if one with the same SQL is in use.
  /// - Throws: The error of `make`.
  mutating func checkOut(_ sql: String, _ make: () throws -> SQLiteStatement) rethrows -> Entry {
    if let entry = entries[sql] {
      guard entry.isInUse else {
        entry.isInUse = true
        return entry
      }
      return Entry(try make())
    }
    let entry = Entry(try make())
    if entries.count >= Self.capacity { removeLeastRecentlyUsed() }
    entries[sql] = entry
    return entry
  }

  mutating func checkIn(_ entry: Entry) {
    useCount += 1
    entry.lastUse = useCount
    entry.isInUse = false
  }

  private mutating func removeLeastRecentlyUsed() {
    let entry = entries.filter { !$0.value.isInUse }.min { $0.value.lastUse < $1.value.lastUse }
    if let entry { entries[entry.key] = nil }
  }
}
