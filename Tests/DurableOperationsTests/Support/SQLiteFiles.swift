import Foundation
import SQLiteSupport

/// Changes to files as other programs make them.
enum SQLiteFiles {
  /// Executes statements in a file, which is created if it does not exist.
  static func execute(_ file: String, _ statements: String...) throws {
    let connection = try SQLiteConnection.open(
      file, for: .writing, SQLiteConfiguration(access: .create))
    for statement in statements { try connection.execute(statement) }
  }
}
