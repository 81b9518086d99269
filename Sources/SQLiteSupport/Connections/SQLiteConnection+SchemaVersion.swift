extension SQLiteConnection {
  /// Returns the version of the schema of a program in the file; 0 if the file is empty.
  ///
  /// - Parameters:
  ///   - applicationID: The number by which the program recognizes its files.
  ///   - latest: The latest version that the program knows.
  /// - Throws: A ``SQLiteError`` if the file belongs to another program, or if its schema is newer.
  package func schemaVersion(applicationID: Int64, latest: Int64) throws -> Int64 {
    let found = try integer("PRAGMA application_id")
    let version = try integer("PRAGMA user_version")
    if found == 0, version == 0, try integer("SELECT count(*) FROM sqlite_schema") == 0 { return 0 }
    guard found == applicationID else {
      throw SQLiteError(
        .foreignFile,
        "\(file) is a database of another program"
          + (found == 0 ? "" : " (application_id \(found))"),
        advice: "use another path", file: file)
    }
    guard version <= latest else {
      throw SQLiteError(
        .newerSchema,
        "\(file) has version \(version) of its schema, but this program knows at most \(latest)",
        advice: "use a newer version of the program", file: file)
    }
    return version
  }

  /// Sets the version of the schema of a program in the file. Must be called in a transaction with
  /// the changes of the schema.
  ///
  /// - Throws: A ``SQLiteError``.
  package func setSchemaVersion(_ version: Int64, applicationID: Int64) throws {
    try execute("PRAGMA application_id = \(applicationID)")
    try execute("PRAGMA user_version = \(version)")
  }

  private func integer(_ sql: String) throws -> Int64 {
    try fetchOne(sql) { $0.integer(at: 0) } ?? 0
  }
}
