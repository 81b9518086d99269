internal import SQLiteSupport

/// A table of a journal that is created with its first row, because few journals need it.
///
/// A file can have another table with its name, such as one for records: earlier versions did not reserve it. Such a
/// table is neither read nor written.
struct LateTable {
  /// The actions of persons on runs.
  static let actions = LateTable(
    name: "run_action",
    """
    (number INTEGER PRIMARY KEY AUTOINCREMENT,
      run TEXT NOT NULL, action TEXT NOT NULL, detail TEXT, actor TEXT NOT NULL,
      began INTEGER NOT NULL, ended INTEGER, problem TEXT) STRICT
    """)

  /// The steps that take long.
  static let steps = LateTable(
    name: "run_step",
    """
    (run TEXT PRIMARY KEY REFERENCES run ON DELETE CASCADE,
      position INTEGER NOT NULL, fence INTEGER NOT NULL, name TEXT NOT NULL,
      began INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """)

  /// Whether a file has the table.
  enum Presence { case missing, present, foreign }

  private let name: String
  /// The statement that creates it. SQLite keeps its text.
  private let definition: String

  private init(name: String, _ columns: String) {
    (self.name, definition) = (name, "CREATE TABLE \(name) \(columns)")
  }

  func presence(in connection: SQLiteConnection) throws -> Presence {
    let found = try connection.fetchOne(
      "SELECT sql FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", [.text(name)]
    ) { $0.text(at: 0) ?? "" }
    guard let found else { return .missing }
    return found == definition ? .present : .foreign
  }

  /// Creates the table, if it is missing.
  ///
  /// - Throws: A ``RunStoreError`` if the file has a foreign one.
  func create(in connection: SQLiteConnection) throws {
    switch try presence(in: connection) {
    case .present: break
    case .missing: try connection.execute(definition)
    case .foreign:
      throw RunStoreError(
        .foreignFile,
        "\(connection.file) has a table \(name) of another program, whose name the journal needs; rename that table"
      )
    }
  }
}
