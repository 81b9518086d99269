internal import CompositeOperations
internal import RecordOperations
internal import SystemSupport

/// The schema that holds the tables of a database, and the tables as they were last read.
final class PostgresRecordSchema: Sendable {
  /// The name of a type, compared byte by byte.
  struct TypeName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: TypeName, other: TypeName) -> Bool {
      one.text.hasSameBytes(as: other.text)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
  }

  /// The tables of some types; nil for a type without a table.
  typealias Tables = [TypeName: PostgresTable?]

  /// The maximum size of a name in bytes, `NAMEDATALEN` minus 1 with the settings of PostgreSQL.
  static let nameLimit = 63
  /// The tables of this package, which are no types.
  static let ownTables = ["record_states", "record_database"]

  let name: String
  /// The quoted name.
  let quoted: String
  /// The quoted name of the table with the states of records.
  let states: String
  private let cache = Lock<Tables>([:])

  init(_ name: String) {
    self.name = name
    quoted = PostgresName.quoted(name)
    states = "\(quoted).record_states"
  }

  /// Returns the quoted name of a table or a type, with the schema.
  func qualified(_ name: String) -> String { "\(quoted).\(PostgresName.quoted(name))" }

  /// Returns the cached tables; nil if one of them is not cached.
  func cached(_ types: [TypeName]) -> Tables? {
    cache.withLock { cache in
      var tables: Tables = [:]
      for type in types {
        guard let table = cache[type] else { return nil }
        tables[type] = .some(table)
      }
      return tables
    }
  }

  func keep(_ tables: Tables) { cache.withLock { $0.merge(tables) { $1 } } }

  /// Clears the cache for some types.
  func forget(_ types: [TypeName]) {
    cache.withLock { cache in for type in types { cache.removeValue(forKey: type) } }
  }

  /// Checks the name of a type or a field.
  ///
  /// - Throws: A ``RecordError`` if no table or column can have it.
  static func check(_ name: String, _ what: @autoclosure () -> String) throws {
    let count = name.utf8.count
    if count == 0 { throw RecordError(.invalid("\(what()) has an empty name")) }
    if count > nameLimit {
      throw RecordError(
        .invalid(
          "the name of \(what()), \(name.shortText), has \(count) bytes; PostgreSQL allows at most "
            + "\(nameLimit)"))
    }
    if name.utf8.contains(0) {
      throw RecordError(
        .invalid(
          "the name of \(what()), \(name.shortText), contains a NUL (U+0000), which PostgreSQL "
            + "does not allow"))
    }
  }

  /// Checks the name of a type.
  ///
  /// - Throws: A ``RecordError`` if no table can have it, or if it is reserved.
  static func check(type: String) throws {
    try check(type, "a type")
    if ownTables.contains(where: type.hasSameBytes) {
      throw RecordError(.invalid("the type name \(type) is reserved"))
    }
  }
}
