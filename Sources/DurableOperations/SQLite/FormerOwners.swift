internal import SQLiteSupport
internal import SystemSupport

/// The owners of a journal of version 1: each had a lock on a file of its own, in a folder beside the journal.
struct FormerOwners {
  private struct Owner {
    let number: Int64
    let program: String
    let process: Int32
    /// When the process began to use the journal, in milliseconds since 1970.
    let began: Int64
  }

  private let file: String
  private let owners: [Owner]

  /// - Throws: A ``RunStoreError`` that names an owner that lives.
  init(_ connection: SQLiteConnection, now: Int64) throws {
    file = connection.file
    owners = try connection.fetchAll("SELECT number, program, pid, began FROM owner") { row in
      Owner(
        number: row.integer(at: 0), program: row.text(at: 1) ?? "",
        process: Int32(clamping: row.integer(at: 2)), began: row.integer(at: 3))
    }
    guard let living = owners.first(where: { isAlive($0, now: now) }) else { return }
    throw RunStoreError(
      .busy,
      "process \(living.process) (\(living.program)) uses \(file) in an earlier version of the journal; end that "
        + "process")
  }

  private var folder: String { file + "-owners" }
  private func path(of owner: Owner) -> String { "\(folder)/\(owner.number)" }

  private func isAlive(_ owner: Owner, now: Int64) -> Bool {
    let path = path(of: owner)
    if !FileSystem.isMissing(path) { return FileLock.isHeld(path) }
    // It may have opened the file by another path, beside which its lock is. Another process can have its number.
    guard owner.process != SystemProcess.identifier,
      ProcessTable.programName(of: owner.process) == owner.program,
      let listed = ProcessTable.listed(owner.process)
    else { return false }
    let age = Int64((ProcessTable.now - listed.began) * 10)
    return now - age <= owner.began + 1_000
  }

  /// Makes the runs of the owners ready, and changes the tables.
  func takeOver(_ connection: SQLiteConnection, now: Int64) throws {
    for index in ["run_due", "run_owner", "run_ended", "run_began", "run_parent"] {
      try connection.execute("DROP INDEX IF EXISTS \(index)")
    }
    try connection.execute("DROP TABLE owner")
    for column in JournalSchema.columns { try connection.execute(column) }
    let ids = try connection.fetchAll(
      """
      UPDATE run SET state = 'ready', owner = NULL, wake = ?1, updated = ?1
      WHERE state = 'running' RETURNING id
      """, [.integer(now)]
    ) { RunID($0.text(at: 0) ?? "") }
    for id in ids { _ = try connection.wakeParents(of: id, now: now) }
  }

  /// Removes the files of the locks. A file that stays has no effect.
  func removeFiles() {
    for owner in owners {
      try? OpenFolder.working.removeFile(FileName(path(of: owner)))
    }
    try? OpenFolder.working.removeFolder(FileName(folder))
  }
}
