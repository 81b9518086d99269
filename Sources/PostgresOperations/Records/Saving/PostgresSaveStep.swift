internal import RecordOperations
internal import SystemSupport

/// A change with the decision that follows from the stored records.
enum PostgresStep {
  /// The change fails without a statement.
  case failed(RecordError)
  /// A table or a column must be created first.
  case blocked
  case save(PostgresSave)
  case delete(PostgresTable, key: [String], tag: RecordTag?)
}

/// A save that inserts or updates a row.
struct PostgresSave {
  let record: DatabaseRecord
  let policy: SavePolicy
  let table: PostgresTable
  let key: [String]
  let isInsertion: Bool
  /// The columns to write, without those of a new key, and their stored values.
  let columns: [PostgresColumn]
  let values: [String?]
  /// The tag that the row must have; nil for any.
  let tag: RecordTag?
  /// The stored record; nil for a new one.
  let existing: DatabaseRecord?

  /// Returns whether one statement can execute both.
  func isSimilar(to other: PostgresSave) -> Bool {
    table === other.table && isInsertion == other.isInsertion
      && (tag == nil) == (other.tag == nil)
      && columns.elementsEqual(other.columns) { $0 === $1 }
  }
}

/// The fields for which tables or columns must be created, and the tables to track.
struct PostgresMissingParts: Error {
  typealias TypeName = PostgresRecordSchema.TypeName

  /// The first value of each field, by type. A type without fields needs only its table.
  private(set) var fields: [TypeName: [(key: String, value: FieldValue)]] = [:]
  private(set) var untracked: [TypeName] = []

  var isEmpty: Bool { fields.isEmpty && untracked.isEmpty }

  /// The same without tables and columns to create.
  var untrackedOnly: PostgresMissingParts {
    var parts = self
    parts.fields = [:]
    return parts
  }

  mutating func add(_ new: [(key: String, value: FieldValue)], of type: String) {
    var own = fields[TypeName(type)] ?? []
    for (key, value) in new {
      if let index = own.firstIndex(where: { $0.key.hasSameBytes(as: key) }) {
        // Null determines no type.
        if own[index].value == .null { own[index].value = value }
      } else {
        own.append((key, value))
      }
    }
    fields[TypeName(type)] = own
  }

  mutating func track(_ type: String) {
    if !untracked.contains(TypeName(type)) { untracked.append(TypeName(type)) }
  }
}
