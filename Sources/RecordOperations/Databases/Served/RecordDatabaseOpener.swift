/// Opens databases at addresses. A type of another module, which ``DatabaseAddress/database(in:hinting:)``
/// finds by its name if the program is linked with that module.
package protocol RecordDatabaseOpener {
  /// - Parameters:
  ///   - schema: The name of the schema; nil for the default one.
  ///   - hinting: Whether streams of hints create what they need in the database.
  static func database(
    at address: String, schema: String?, hinting: Bool
  ) -> any ServedRecordDatabase
}

extension DatabaseAddress {
  /// Returns the database at the address.
  ///
  /// - Parameters:
  ///   - schema: The name of the schema; nil for the default one.
  ///   - hinting: Whether streams of hints create what they need in the database.
  /// - Throws: A ``RecordError`` if no module of the program knows the scheme. It does not contain the
  ///   rest of the address, which may have a password.
  package func database(
    in schema: String? = nil, hinting: Bool = false
  ) throws -> any ServedRecordDatabase {
    guard isPostgres else {
      throw RecordError(
        .unsupported(
          """
          \(scheme)://… is no address of a database of records; expected the path of a SQLite file, or \
          postgresql://USER@HOST/DATABASE
          """))
    }
    // The mangled name of the enum in that module.
    let opener =
      _typeByName("18PostgresOperations0A12RecordOpenerO") as? any RecordDatabaseOpener.Type
    guard let opener else {
      throw RecordError(
        .unsupported(
          """
          \(scheme)://…: this program was built without PostgreSQL; install libpq (libpq-dev on \
          Debian), run `swift package purge-cache`, and build it again
          """))
    }
    return opener.database(at: text, schema: schema, hinting: hinting)
  }
}
