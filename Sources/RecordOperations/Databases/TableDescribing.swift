internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A database that can describe the tables of its records without their rows.
package protocol TableDescribing: RecordDatabase {
  /// Returns the tables of some types. A type without a table, or with one the user may not read, is left out.
  ///
  /// - Returns: Nil if the database knows nothing of its tables.
  /// - Throws: A ``RecordError`` if the request fails, or if the database never reports the changes of a type;
  ///   `CancellationError`.
  func descriptions(of types: [String]) async throws -> [String: TableDescription]?
}

/// A table of records, as it is now.
package struct TableDescription: Sendable {
  package struct Column: Hashable, Sendable {
    package let name: String
    /// Empty for a column that has never had a value.
    package let type: String
    /// In PostgreSQL, a number that no other column of the table has had; in SQLite, the position, which changes when
    /// an earlier column is dropped.
    package let number: Int64
    /// Whether rows that existed before the column may have a value in it.
    package let isFilled: Bool

    package init(name: String, type: String, number: Int64, isFilled: Bool) {
      (self.name, self.type, self.number, self.isFilled) = (name, type, number, isFilled)
    }
  }

  package let columns: [Column]
  /// A value of each field, in the order of the columns, for which another database can create a column. A field is
  /// left out if only its values show their kind.
  package let samples: [(key: String, value: FieldValue)]
  /// The constraints of the fields for which there is a sample.
  package let constraints: TableConstraints
  /// Whether the changes of its rows are tracked.
  package let isTracked: Bool

  package init(
    columns: [Column], samples: [(key: String, value: FieldValue)],
    constraints: TableConstraints = .none, isTracked: Bool
  ) {
    (self.columns, self.samples) = (columns, samples)
    (self.constraints, self.isTracked) = (constraints, isTracked)
  }

  /// Whether rows may have values that are no changes of records since the table had other columns: the values of a new
  /// column with a default, of a renamed one, whose type has changed, or that was dropped and added again.
  func hasNewValues(since known: [Column]) -> Bool {
    columns.contains { column in
      if known.contains(column) { return false }
      return column.isFilled
        || known.contains {
          ($0.name == column.name || $0.number == column.number) && !$0.type.isEmpty
        }
    }
  }
}

extension SQLiteRecordDatabase: TableDescribing {
  package func descriptions(of types: [String]) async throws -> [String: TableDescription]? {
    try await read { connection in
      var found: [String: TableDescription] = [:]
      for type in types {
        guard let table = try connection.table(type) else { continue }
        let columns = try connection.fetchAll(
          "SELECT name, type, cid, dflt_value IS NOT NULL OR hidden <> 0 FROM pragma_table_xinfo(?1)",
          [.text(table.name)]
        ) { row in
          TableDescription.Column(
            name: row.text(at: 0) ?? "",
            // A column without a type of another program takes any value.
            type: row.text(at: 1).flatMap { $0.isEmpty && !table.isOwn ? "ANY" : $0 } ?? "",
            number: row.integer(at: 2),
            isFilled: row.integer(at: 3) != 0)
        }
        // Other programs may store any kind of value in a column.
        let samples = table.isOwn ? table.fields.filter(\.isWritable) : []
        found[type] = TableDescription(
          columns: columns,
          samples: samples.compactMap { column in column.sample.map { (column.name, $0) } },
          isTracked: table.isTracked)
      }
      return found
    }
  }
}

extension SQLiteColumn {
  /// A value for which another database can create the column; nil if only its values show their kind.
  var sample: FieldValue? {
    switch meaning {
    case .date: .date(Date(timeIntervalSince1970: 0))
    case .list: .list([])
    case .keptReference: .reference(RecordReference(RecordID("", "")))
    case .foreignKey(let type, let rule):
      .reference(RecordReference(RecordID(type, ""), onDelete: rule))
    case .plain:
      switch affinity {
      case .integer: .integer(0)
      case .real: .double(0)
      case .text: .string("")
      case .blob where !storesAnyValue: .bytes([])
      case .blob, .numeric: nil
      }
    }
  }
}

extension FaultyRecordDatabase: TableDescribing {
  package func descriptions(of types: [String]) async throws -> [String: TableDescription]? {
    try await (base as? any TableDescribing)?.descriptions(of: types)
  }
}
