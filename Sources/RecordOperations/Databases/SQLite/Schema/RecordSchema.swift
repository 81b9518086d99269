/// The table of a type in an SQLite file, as a version of a program needs it: fields, indexes, and the names that
/// fields had in earlier versions.
///
/// ```swift
/// import RecordOperations
///
/// let editions = RecordSchema(
///   "Edition",
///   fields: ["title": .string, "pages": .integer, "isbn": .string, "lent": .date],
///   renamed: ["name": "title"], removed: ["shelf"],
///   indexes: [["title"], ["lent", "pages"]], unique: [["isbn"]])
/// try await SQLiteRecordDatabase("library.sqlite").adopt([editions])
/// ```
public struct RecordSchema: Sendable {
  /// The values that a field takes.
  public enum Field: Hashable, Sendable {
    case integer, double, string, bytes, date, list
    /// References to records of a type; with the rule `.keep`, of any type.
    case reference(to: String, onDelete: RecordReference.DeleteRule)
  }

  /// The type of the records.
  public let type: String
  /// The fields that the table has at least, with what they take.
  public let fields: [(name: String, takes: Field)]
  /// Former names of fields, each with the present one.
  public let renamed: [(former: String, current: String)]
  /// The fields of earlier versions whose values are deleted.
  public let removed: [String]
  /// The fields of each index.
  public let indexes: [[String]]
  /// The fields of which no two records have the same values. Null is never the same.
  public let unique: [[String]]

  /// Creates the schema of a type.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - fields: The fields that the table has at least, with what they take.
  ///   - renamed: Former names of fields, each with the present one.
  ///   - removed: The fields of earlier versions whose values are deleted.
  ///   - indexes: The fields of each index.
  ///   - unique: The fields of which no two records have the same values. Null is never the same.
  public init(
    _ type: String, fields: KeyValuePairs<String, Field>,
    renamed: KeyValuePairs<String, String> = [:], removed: [String] = [],
    indexes: [[String]] = [], unique: [[String]] = []
  ) {
    self.type = type
    self.fields = fields.map { ($0.key, $0.value) }
    self.renamed = renamed.map { ($0.key, $0.value) }
    self.removed = removed
    self.indexes = indexes
    self.unique = unique
  }

  /// Checks that the parts agree.
  ///
  /// - Throws: A ``RecordError`` that names the type and the field.
  func check() throws {
    func invalid(_ problem: String) -> RecordError {
      RecordError(.invalid("the schema of \(type) \(problem)"))
    }
    let names = fields.map(\.name)
    if let name = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw invalid("has the field \(name) twice")
    }
    if let (former, current) = renamed.first(where: { !names.contains($0.current) }) {
      throw invalid("renames \(former) to \(current), which is none of its fields")
    }
    if let name = (renamed.map(\.former) + removed).first(where: names.contains) {
      throw invalid("renames or removes \(name), which is one of its fields")
    }
    if let name = renamed.map(\.former).first(where: removed.contains) {
      throw invalid("renames and removes \(name)")
    }
    for key in indexes + unique {
      if key.isEmpty { throw invalid("has an index without fields") }
      if let name = key.first(where: { !names.contains($0) }) {
        throw invalid("has an index of \(name), which is none of its fields")
      }
    }
  }
}

extension SQLiteRecordDatabase {
  /// Changes the tables of some types to what a version of a program needs, in one transaction. Parts that are so already
  /// stay as they are, so a program calls this each time that it begins.
  ///
  /// | part of the schema | effect |
  /// |---|---|
  /// | a field without a column | The column is created, so queries for the field find nothing instead of failing. |
  /// | a former name | Its column gets the present name. If both exist, because an earlier version of the program has written again, the values of the former are moved to records that have none under the present name. |
  /// | a removed field | Its column is dropped, with its values. |
  /// | an index | It is created. Those that an earlier schema of the type has created, and this one does not have, are dropped. |
  ///
  /// A record whose fields are renamed or removed has changed: it is reported by ``changes(since:in:)``.
  ///
  /// - Throws: A ``RecordError``, and nothing is changed, if the parts of a schema do not agree; a column takes other
  ///   values; a record has different values under the former and the present name of a field; records have the same
  ///   values in an index that is unique; the fields of a mirrored type, or of a table that another program has
  ///   created, would be renamed, removed or added; or the file cannot be written. `CancellationError`.
  public func adopt(_ schemas: [RecordSchema]) async throws {
    for schema in schemas { try schema.check() }
    try await write { connection in
      for schema in schemas { try connection.adopt(schema) }
    }
  }
}
