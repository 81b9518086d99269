internal import CompositeOperations
internal import SQLiteSupport
internal import SystemSupport

// The requests that come from outside of a run.
extension SQLiteRunBackend {
  func cancel(_ id: RunID, because reason: String?) async throws {
    let now = now
    let isInMemory = file == nil
    let cancelled = try await write { [weak self, file] connection in
      try file?.check(connection)
      let owner = isInMemory ? 1 : self?.ownNumber
      return try connection.cancel(id, because: reason, owner: owner, now: now)
    }
    for id in cancelled.running { changes.cancelTask(of: id) }
    notify(id, cancelled.running + cancelled.ended + cancelled.woken)
  }

  func retry(_ id: RunID, from step: Int?) async throws {
    let now = now
    let parents = try await write { [file] connection in
      try file?.check(connection)
      return try connection.retry(id, from: step, now: now)
    }
    notify(id, parents)
  }

  func send(
    _ payload: String, as event: String, to id: RunID, replacing replaces: Bool
  ) async throws -> Bool {
    let now = now
    let sent = try await write { [file] connection in
      try file?.check(connection)
      return try connection.send(payload, as: event, to: id, replacing: replaces, now: now) {
        owner in
        file?.state(ofOwner: owner) == .hasEnded
      }
    }
    if sent.counts { notify(id, sent.woken) }
    return sent.counts
  }

  func add(_ record: RecordedAction, on id: RunID) async throws -> Int64? {
    try await writeInSavepoint { [file] connection in
      try file?.check(connection)
      return try connection.add(record, on: id)
    }
  }

  func endAction(_ number: Int64, problem: String?) async throws {
    let now = now
    try await write { try $0.endAction(number, problem: problem, now: now) }
  }

  func actions(on id: RunID, last count: Int) async throws -> [RecordedAction] {
    try await read { try $0.actions(on: id, last: count) }
  }

  func event(_ name: String, of id: RunID) async throws -> StoredEvent? {
    try await read { connection in
      try connection.fetchOne(
        "SELECT payload, sent FROM event WHERE run = ?1 AND name = ?2",
        [.text(id.text), .text(name)]
      ) { row in
        StoredEvent(name: name, payload: row.text(at: 0) ?? "", sent: row.integer(at: 1))
      }
    }
  }

  func events(of id: RunID, last count: Int) async throws -> [StoredEvent] {
    try await read { connection in
      try connection.fetchAll(
        """
        SELECT name, payload, sent FROM event WHERE run = ?1
        ORDER BY sent DESC, name DESC LIMIT ?2
        """, [.text(id.text), .integer(Int64(clamping: count))]
      ) { row in
        StoredEvent(
          name: row.text(at: 0) ?? "", payload: row.text(at: 1) ?? "", sent: row.integer(at: 2))
      }
    }
  }

  func forget(olderThan age: Int64) async throws -> Int {
    let time = now - age
    return try await write { connection in
      try connection.execute(
        """
        DELETE FROM run WHERE id IN
          (SELECT id FROM run AS old WHERE ended IS NOT NULL AND ended < ?1
            AND NOT EXISTS (
              WITH RECURSIVE tree(id) AS
                (SELECT id FROM run WHERE parent = old.id
                  UNION ALL SELECT run.id FROM run JOIN tree ON run.parent = tree.id)
              SELECT 1 FROM run WHERE id IN tree AND (ended IS NULL OR ended >= ?1))
            ORDER BY ended LIMIT 1000)
        """, [.integer(time)])
      return connection.changeCount
    }
  }

  func forget(_ id: RunID) async throws {
    try await write { connection in
      guard let run = try connection.run(id) else { throw RunStoreError.noSuchRun(id) }
      guard run.state.hasEnded else { throw RunStoreError.hasNotEnded(run) }
      if let child = try connection.openChild(of: id) {
        throw RunStoreError.hasOpenChild(id, child.text)
      }
      try connection.execute("DELETE FROM run WHERE id = ?1", [.text(id.text)])
    }
  }

  func check() async throws -> [String] {
    let isJSON = options.coder is JSONRunCoder
    let problems = try await read { try $0.problems(isJSON: isJSON) }
    return try await problems + copyProblems() + ownerProblems()
  }

  /// Whether the file is a copy that no program has used.
  private func copyProblems() async throws -> [String] {
    guard let file, try await read({ try $0.isUnusedCopy }) else { return [] }
    return [
      """
      \(file.path) is a copy of the file that programs have used, and may lack its last changes, which are in the log \
      beside that file (-wal); make copies by `coop journal STORE copy FILE`; one that was moved since is complete
      """
    ]
  }

  func copy(to path: String) async throws {
    do {
      try await read { connection in
        try connection.copy(to: path) { try $0.markAsUsed() }
      }
    } catch let error as SystemError {
      throw RunStoreError(
        error == .noSpace ? .diskFull : .notAccessible,
        error == .fileExists
          ? "\(path) exists; expected the path of a new file" : "\(path): \(error); \(error.advice)"
      )
    }
  }
}
