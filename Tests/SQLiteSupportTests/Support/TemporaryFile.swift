import Foundation
import SQLiteSupport

/// A database in a temporary folder, which is removed when this object is deallocated.
final class TemporaryFile: Sendable {
  let folder: String
  let path: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/sqlite-\(UUID().uuidString)"
    path = folder + "/test.sqlite"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func connect(
    for purpose: SQLiteConnection.Purpose = .writing,
    _ configuration: SQLiteConfiguration = SQLiteConfiguration()
  ) throws -> SQLiteConnection {
    try SQLiteConnection.open(path, for: purpose, configuration)
  }

  /// A connection to the file, with a table of integers and text.
  func connectWithTable() throws -> SQLiteConnection {
    let connection = try connect()
    try connection.execute("CREATE TABLE T (i INTEGER PRIMARY KEY, t TEXT NOT NULL UNIQUE)")
    return connection
  }

  var size: Int {
    get throws {
      try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
  }

  var permissions: Int {
    get throws {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
    }
  }
}

extension SQLiteConnection {
  /// The integers of the table, in their order.
  var integers: [Int64] {
    get throws { try fetchAll("SELECT i FROM T ORDER BY i") { $0.integer(at: 0) } }
  }
}

/// Returns the error that a body throws.
func failure(_ body: () throws -> Void) -> SQLiteError? {
  do { try body() } catch { return error as? SQLiteError }
  return nil
}
