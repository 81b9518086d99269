import Foundation
import SQLiteSupport
import SystemSupport

/// The state of a flow in an SQLite file: its runs, their steps, and the last successes of the steps.
struct FlowJournal: Sendable {
  let flow: String
  let worker: SQLiteWorker
  private let path: String
  private let purpose: SQLiteConnection.Purpose
  let successes = FlowSuccesses()

  init(of flow: String, at path: String, for purpose: SQLiteConnection.Purpose = .writing) {
    self.flow = flow
    self.purpose = purpose
    self.path = path
    worker = SQLiteWorker("flow journal") {
      let connection = try SQLiteConnection.open(
        path, for: purpose,
        SQLiteConfiguration(
          access: purpose == .writing ? .create : .existing, durability: .full,
          // A process of another run may be stopped while it writes.
          busyTimeout: .seconds(60), permissions: 0o600))
      // In KiB. The successes are read once, and do not have to stay in memory.
      try connection.execute("PRAGMA cache_size = -1024")
      return connection
    }
  }

  /// Opens the journal, and creates it if it is missing and opened for writing.
  ///
  /// - Returns: Whether it has the tables.
  /// - Throws: An error of the file; a failure if it has runs of another flow.
  @discardableResult
  func open() async throws -> Bool {
    if purpose == .writing, let type = SQLiteFile(path).networkType {
      throw FlowFailure.other(
        "\(path.onOneLine) is on a network file system (\(type)), where locks do not work reliably; "
          + "--state FOLDER puts the state on a local disk")
    }
    return try await worker.run { [flow, path, purpose] connection in
      if try connection.isFormerFlowState {
        if purpose == .reading {
          throw FlowFailure.other(
            "\(path.onOneLine) was written by an earlier version; the next run takes it over")
        }
        try connection.takeOverFormerFlowState()
      }
      let version = try connection.schemaVersion(
        applicationID: FlowStateFile.applicationID, latest: Self.version)
      if version > 0 {
        let other = try connection.fetchOne(
          "SELECT flow FROM flow_run WHERE flow <> ?1", [.text(flow)]
        ) { $0.text(at: 0) ?? "" }
        if let other {
          throw FlowFailure.other(
            "\(path.onOneLine) has the runs of the flow '\(other.onOneLine)'; expected another folder "
              + "for '\(flow)'")
        }
      }
      if purpose == .reading { return version > 0 }
      if version < Self.version {
        try connection.transaction(.immediate) {
          if version > 0 { try connection.execute("DROP TABLE flow_process") }
          try connection.createFlowTables()
        }
      }
      return true
    }
  }

  /// Identifies the flow and the open journal in the environment of processes. It is the same if the
  /// folder was moved, or is reached through a link.
  var mark: String {
    get throws {
      let file = try FileStatus(ofFile: path).identity
      return "\(flow)@\(file.device):\(file.number)"
    }
  }

  /// The key of the hashes of secrets. Each state has its own.
  func secretKey() async throws -> String {
    try await worker.run { [purpose] connection in
      let sql = "SELECT key FROM flow_key"
      if purpose == .writing {
        try connection.execute("CREATE TABLE IF NOT EXISTS flow_key (key TEXT NOT NULL) STRICT")
        try connection.execute(
          "INSERT INTO flow_key SELECT hex(randomblob(32)) WHERE NOT EXISTS (\(sql))")
      }
      let exists = try connection.fetchOne(
        "SELECT 1 FROM sqlite_master WHERE name = 'flow_key'"
      ) { _ in true }
      if exists == nil { return "" }
      return try connection.fetchOne(sql) { $0.text(at: 0) ?? "" } ?? ""
    }
  }

  /// Closes the journal, which removes the files that SQLite keeps beside it.
  func close() async {
    await worker.close()
    // If a reader has closed it at the same time, neither connection was the last one, and the files stay.
    if purpose == .reading || FileSystem.isMissing("\(path)-wal") { return }
    let connection = try? SQLiteConnection.open(
      path, for: .writing, SQLiteConfiguration(access: .existing))
    try? connection?.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  static let version: Int64 = 2

  // The state of a run is null until it has ended. Then `process` is the process that works on it, or was
  // killed while it did.
  static let tables = [
    """
    CREATE TABLE IF NOT EXISTS flow_run (flow TEXT NOT NULL, number INTEGER NOT NULL,
      file TEXT NOT NULL, "values" TEXT NOT NULL, selection TEXT, began INTEGER NOT NULL, name TEXT,
      state TEXT, reason TEXT, updated INTEGER NOT NULL, cancelled INTEGER, process INTEGER,
      PRIMARY KEY (flow, number)) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS flow_success (flow TEXT NOT NULL, step TEXT NOT NULL,
      run INTEGER NOT NULL, definition TEXT NOT NULL, inputs TEXT NOT NULL, outputs TEXT NOT NULL,
      lines TEXT, used TEXT NOT NULL, number INTEGER NOT NULL, made INTEGER NOT NULL,
      ended INTEGER NOT NULL, duration INTEGER NOT NULL, PRIMARY KEY (flow, step, run))
      STRICT, WITHOUT ROWID
    """,
    // When a process has last worked on a run, in milliseconds since 1970.
    """
    CREATE TABLE IF NOT EXISTS flow_life (flow TEXT NOT NULL, run INTEGER NOT NULL,
      time INTEGER NOT NULL, PRIMARY KEY (flow, run)) STRICT, WITHOUT ROWID
    """,
    // The number of the last success of each flow.
    """
    CREATE TABLE IF NOT EXISTS flow_counter (flow TEXT PRIMARY KEY, number INTEGER NOT NULL)
      STRICT, WITHOUT ROWID
    """,
    stepTable, stepIndex, sizeTable,
    // The successes of unfinished runs that others have replaced. Their background processes may be running.
    """
    CREATE TABLE IF NOT EXISTS flow_left (flow TEXT NOT NULL, run INTEGER NOT NULL,
      step TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (flow, run, step))
      STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS flow_process (flow TEXT NOT NULL, run INTEGER NOT NULL,
      step TEXT NOT NULL, pid INTEGER NOT NULL, began INTEGER NOT NULL, boot TEXT NOT NULL,
      PRIMARY KEY (flow, pid)) STRICT, WITHOUT ROWID
    """,
  ]
}

extension FlowJournal {
  static func json(_ texts: [String]) -> String {
    var json = JSONWriter()
    json.array { json in for text in texts { json.string(text) } }
    return json.text
  }

  static func json(_ numbers: Set<Int>) -> String {
    var json = JSONWriter()
    json.array { json in for number in numbers { json.integer(number) } }
    return json.text
  }

  /// Returns the texts of a JSON array; nil if it is none.
  static func texts(inJSON json: String) -> [String]? {
    try? JSONDecoder().decode([String].self, from: Data(json.utf8))
  }
}
