import Foundation
import SQLiteSupport

/// The rows of the steps of a journal, inserted again by SQLite alone: a prepared statement, one
/// transaction a row, into a table with the same columns.
struct BareInsert: Sendable {
  private let rows: [[SQLiteValue]]
  private let table: String

  /// - Parameters:
  ///   - journal: The path of the journal.
  ///   - limit: The maximum number of rows.
  init(rowsOf journal: String, limit: Int) throws {
    var configuration = SQLiteConfiguration()
    configuration.access = .existing
    let connection = try SQLiteConnection.open(journal, for: .reading, configuration)
    let table = try connection.fetchOne(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'step'"
    ) { $0.text(at: 0) }
    guard case let table?? = table else { throw BenchmarkError("\(journal) has no steps") }
    self.table = table
    rows = try connection.fetchAll("SELECT * FROM step LIMIT ?1", [.integer(Int64(limit))]) { row in
      (0..<row.columnCount).map { row.value(at: $0) }
    }
  }

  /// Inserts the rows into a new file.
  ///
  /// - Returns: The nanoseconds that the inserts have taken, for each row.
  func nanosecondsPerRow(
    into path: String, durability: SQLiteConfiguration.Durability
  ) throws -> Double {
    let configuration = SQLiteConfiguration(access: .create, durability: durability)
    let connection = try SQLiteConnection.open(path, for: .writing, configuration)
    // The runs to which the rows refer are not there.
    try connection.execute("PRAGMA foreign_keys = OFF")
    try connection.execute(table)
    let parameters = (1...(rows.first?.count ?? 1)).map { "?\($0)" }.joined(separator: ", ")
    let insert = try connection.makeStatement("INSERT INTO step VALUES (\(parameters))")
    let start = ContinuousClock.now
    for row in rows {
      try insert.bind(row)
      try insert.run()
    }
    return Stopwatch.nanoseconds(since: start) / Double(rows.count)
  }
}
