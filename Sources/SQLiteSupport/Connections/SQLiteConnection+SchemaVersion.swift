extension SQLiteConnection {
  /// Returns the version of the schema of a program in the file; 0 if the file is empty.
  ///
  /// - Parameters:
  ///   - applicationID: The number by which the program recognizes its files.
  ///   - latest: The latest version that the program knows.
  /// - Throws: A ``SQLiteError`` if the file belongs to another program, or if its schema is newer.
  package func schemaVersion(applicationID: Int64, latest: Int64) throws -> Int64 {
    // One statement, which sees one state of the file: another process may be creating the schema.
    let header = try fetchOne(
      """
      SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
      FROM pragma_application_id, pragma_user_version
      """
    ) { (id: $0.integer(at: 0), version: $0.integer(at: 1), tables: $0.integer(at: 2)) }
    let (found, version) = (header?.id ?? 0, header?.version ?? 0)
    if found == 0, version == 0, header?.tables ?? 0 == 0 { return 0 }
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
}
