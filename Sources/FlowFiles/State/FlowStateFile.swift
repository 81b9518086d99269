import Foundation
package import SQLiteSupport
import SystemSupport

/// The file with the state of a flow, `state.sqlite`, for programs that show its runs.
package struct FlowStateFile: Sendable {
  /// "COFF", by which the file is recognized.
  static let applicationID: Int64 = 0x434F_4646

  package let path: String

  /// Nil if there is no such file, or if it is another one.
  package init?(_ path: String) {
    // Of a run in progress, the number may only be in the log beside the file. So SQLite reads it.
    let connection = try? SQLiteConnection.open(
      path, for: .reading, SQLiteConfiguration(access: .existing))
    let number = try? connection?.fetchOne("PRAGMA application_id") { $0.integer(at: 0) }
    guard number == Self.applicationID else { return nil }
    self.path = path
  }

  /// Checks that this version knows the tables.
  ///
  /// - Throws: A `SQLiteError` if a newer version has written them.
  package static func check(_ connection: SQLiteConnection) throws {
    _ = try connection.schemaVersion(applicationID: applicationID, latest: FlowJournal.version)
  }

  /// Whether a process has the lock of a run.
  package func isRunning(_ run: Int) -> Bool {
    FileLock.isHeld(FlowLogFolder(inState: Self.folder(of: path)).lock(ofRun: run))
  }

  /// The folder of the file of a database, where its locks and logs are. The path may be a link to the
  /// file.
  package static func folder(of database: String) -> String {
    var paths = FlowPaths(in: FileManager.default.currentDirectoryPath)
    return String(paths.followingLinks(database).splitPath.folder.dropLast())
  }
}
