internal import SQLiteSupport

/// Changes to files as other programs make them.
package enum SQLiteFiles {
  /// Executes statements in a file, which is created if it does not exist.
  package static func execute(_ file: String, _ statements: String...) throws {
    let connection = try SQLiteConnection.open(
      file, for: .writing, SQLiteConfiguration(access: .create))
    for statement in statements { try connection.execute(statement) }
  }

  /// Returns the first column of the first row of a query; nil if there is no row.
  package static func integer(_ file: String, _ query: String) throws -> Int64? {
    let connection = try SQLiteConnection.open(
      file, for: .reading, SQLiteConfiguration(access: .existing))
    return try connection.fetchOne(query) { $0.integer(at: 0) }
  }
}
