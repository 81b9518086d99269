internal import DurableOperations

/// The schema of Absurd in a database.
enum AbsurdSchema {
  /// The supported versions: 0.4, 0.5 and 0.6.
  static let versions = 4...6

  /// Checks the version of the schema, and that it has a queue.
  ///
  /// - Throws: A ``RunStoreError`` that says what to do; a ``PostgresError``.
  static func check(
    _ connection: PostgresConnection, queue: String, at address: String
  ) throws {
    let found = try find(connection, queue: queue)
    guard let version = found.version else {
      throw RunStoreError(
        .unsupportedSchema,
        """
        schema: Absurd is not installed in \(address); install it with `absurdctl init -d \
        DATABASE`, then create the queue with `absurdctl create-queue -d DATABASE \(queue)`
        """)
    }
    guard isSupported(version) else {
      throw RunStoreError(
        .unsupportedSchema,
        """
        schema: Absurd \(version) is installed in \(address); this program supports 0.4 to 0.6: \
        update the program, or migrate the schema with `absurdctl migrate`
        """)
    }
    if !found.hasQueue {
      throw RunStoreError(
        .unsupportedSchema,
        """
        queue: \(address) has no queue '\(queue)'; create it with `absurdctl create-queue -d \
        DATABASE \(queue)`, or choose another one
        """)
    }
    if found.isPartitioned {
      throw RunStoreError(
        .unsupportedSchema,
        """
        queue: '\(queue)' in \(address) is partitioned, which is not supported; create another queue \
        with `absurdctl create-queue -d DATABASE NAME`
        """)
    }
  }

  /// What a database has.
  struct Found {
    /// The version of the schema; nil if it is not installed.
    var version: String?
    var hasQueue = false
    var isPartitioned = false
  }

  /// - Throws: A ``PostgresError``.
  static func find(
    _ connection: PostgresConnection, queue: String
  ) throws(PostgresError) -> Found {
    var found = Found()
    do { found.version = try connection.rows(versionStatement, []).text(0, 0) ?? "" } catch {
      if ["3F000", "42883"].contains(error.code) { return found }
      throw error
    }
    do {
      let rows = try connection.rows(queueStatement, [.text(queue)])
      found.hasQueue = rows.count > 0
      found.isPartitioned = rows.count > 0 && rows.text(0, 0) == "partitioned"
    } catch {
      // Another version may have no such table.
      if error.code != "42P01" || isSupported(found.version ?? "") { throw error }
    }
    return found
  }

  static func isSupported(_ version: String) -> Bool {
    let parts = version.split(separator: ".")
    guard parts.count >= 2, parts[0] == "0", let minor = Int(parts[1]) else { return false }
    return versions.contains(minor)
  }

  private static let versionStatement = PostgresStatement(
    "version of the schema", "select absurd.get_schema_version()")
  private static let queueStatement = PostgresStatement(
    "queue",
    "select to_jsonb(q)->>'storage_mode' from absurd.queues q where queue_name = $1")
}
