internal import CompositeOperations
internal import SQLiteSupport

// The statements about steps. Each function is a part of a transaction.
extension SQLiteConnection {
  private static let columns =
    "position, key, name, types, kind, value, sequence, attempts, fence, began, ended"

  /// Returns the finished steps of a run in order, or only the last `count`.
  func steps(of id: RunID, last count: Int?) throws -> [StoredStep] {
    try fetchAll(
      """
      SELECT \(Self.columns) FROM step WHERE run = ?1 AND key = ''
      ORDER BY position DESC LIMIT ?2
      """, [.text(id.text), .integer(Int64(clamping: count ?? .max))], StoredStep.init
    ).reversed()
  }

  /// Returns what the step in progress has stored.
  func keys(of id: RunID) throws -> [StoredStep] {
    try fetchAll(
      "SELECT \(Self.columns) FROM step WHERE run = ?1 AND key <> ''", [.text(id.text)],
      StoredStep.init)
  }

  /// Stores a finished step and the state after it, and deletes the rows that it makes obsolete.
  ///
  /// - Throws: A ``DurableRunError``.
  func append(
    _ step: StoredStep, _ types: String, dropping dropped: Range<Int>, hasKeys: Bool,
    by claim: ClaimToken, now: Int64
  ) throws {
    // The claim is checked by the statement itself, because a separate one would take as long.
    try execute(
      """
      UPDATE run SET sequence = ifnull(?3, sequence), \(Self.noClaims), updated = ?4
      WHERE id = ?1 AND fence = ?2 AND state = 'running' AND cancelled IS NULL
      """,
      [
        .text(claim.run.text), .integer(Int64(claim.fence)),
        step.sequence.map { .text($0) } ?? .null, .integer(now),
      ])
    guard changeCount > 0 else {
      try check(claim)
      throw DurableRunError(claim.run, .taken(fence: claim.fence))
    }
    try insert(step, types, by: claim)
    // SQLite collects the rows of a deletion first, which takes longer than the insert.
    if hasKeys {
      try execute(
        "DELETE FROM step WHERE run = ?1 AND position = ?2 AND key <> ''",
        [.text(claim.run.text), .integer(Int64(step.position))])
    }
    for event in step.events {
      try execute(
        "UPDATE event SET step = ?3 WHERE run = ?1 AND name = ?2",
        [.text(claim.run.text), .text(event), .integer(Int64(step.position))])
    }
    try drop(dropped, of: claim.run)
    // A run whose child has finished a step is not stuck.
    if let parent = claim.parent { try clearClaims(of: parent) }
  }

  /// Notes that a run and those that wait for it are not stuck.
  private func clearClaims(of id: RunID) throws {
    var id: String? = id.text
    while let run = id {
      id =
        try fetchOne(
          "UPDATE run SET \(Self.noClaims) WHERE id = ?1 RETURNING parent", [.text(run)]
        ) { $0.text(at: 0) } ?? nil
    }
  }

  /// Deletes finished steps.
  private func drop(_ positions: Range<Int>, of id: RunID) throws {
    if positions.isEmpty { return }
    if positions.count == 1 {
      // The primary key as a whole, so that SQLite need not collect rows.
      return try execute(
        "DELETE FROM step WHERE run = ?1 AND position = ?2 AND key = ''",
        [.text(id.text), .integer(Int64(positions.lowerBound))])
    }
    try execute(
      "DELETE FROM step WHERE run = ?1 AND position >= ?2 AND position < ?3",
      [
        .text(id.text), .integer(Int64(positions.lowerBound)),
        .integer(Int64(positions.upperBound)),
      ])
  }

  /// Stores a key of the step in progress, in place of an earlier one.
  ///
  /// - Throws: A ``DurableRunError``.
  func store(key step: StoredStep, _ types: String, by claim: ClaimToken) throws {
    try check(claim)
    try insert(step, types, by: claim)
    // The beginning of an attempt is no progress.
    if step.kind == .result { try clearClaims(of: claim.run) }
  }

  /// Inserts a row. Only a key replaces one.
  private func insert(_ step: StoredStep, _ types: String, by claim: ClaimToken) throws {
    try execute(
      """
      INSERT \(step.key.isEmpty ? "" : "OR REPLACE ")INTO step
        (run, position, key, name, types, kind, value, sequence, attempts, fence, began, ended)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
      """,
      [
        .text(claim.run.text), .integer(Int64(step.position)), .text(step.key), .text(step.name),
        .text(types), .text(step.kind.rawValue), step.value.map { .text($0) } ?? .null,
        step.sequence.map { .text($0) } ?? .null, .integer(Int64(step.attempts)),
        .integer(Int64(claim.fence)), .integer(step.began), .integer(step.ended),
      ])
  }

  func removeKeys(of id: RunID) throws {
    try execute("DELETE FROM step WHERE run = ?1 AND key <> ''", [.text(id.text)])
  }

  // MARK: Check

  /// Returns a line for each problem of the file and its contents.
  ///
  /// - Parameter isJSON: Whether the values must be valid JSON.
  func problems(isJSON: Bool) throws -> [String] {
    var problems = try fetchAll("PRAGMA quick_check") { $0.text(at: 0) ?? "" }
      .filter { $0 != "ok" }.map { "damaged: \($0)" }
    problems += try fetchAll(
      """
      SELECT run, position, key, 'types' FROM step WHERE NOT json_valid(types)
      UNION ALL SELECT run, position, key, 'value' FROM step
        WHERE ?1 AND value IS NOT NULL AND NOT json_valid(value)
      """, [.integer(isJSON ? 1 : 0)]
    ) { row in
      let key = row.text(at: 2) ?? ""
      return """
        run \(row.text(at: 0) ?? ""), step \(row.integer(at: 1))\(key.isEmpty ? "" : ", key \(key)"): \
        the \(row.text(at: 3) ?? "") is not valid JSON
        """
    }
    problems += try fetchAll("SELECT id, reason FROM run WHERE state = 'stuck' ORDER BY id") {
      row in
      "run \(row.text(at: 0) ?? "") is stuck: \(row.text(at: 1) ?? "")"
    }
    return problems
  }
}

extension StoredStep {
  /// Reads a row with the columns of `SQLiteConnection.columns`.
  fileprivate init(_ row: SQLiteStatement) throws {
    let names = (try? JSONRunCoder().decode([String].self, from: row.text(at: 3) ?? "")) ?? []
    let key = row.text(at: 1) ?? ""
    self.init(
      position: Int(row.integer(at: 0)), key: key, name: row.text(at: 2) ?? "",
      types: StepTypes(
        operations: Array(names.dropLast(2)), success: names.dropLast().last ?? ""),
      mangledName: names.last ?? "",
      kind: RunDetails.Kind(rawValue: row.text(at: 4) ?? "") ?? .error,
      value: row.text(at: 5), sequence: row.text(at: 6), attempts: Int(row.integer(at: 7)),
      fence: Int(row.integer(at: 8)), began: row.integer(at: 9), ended: row.integer(at: 10))
  }
}

// The steps that take long.
extension SQLiteConnection {
  /// Stores that a run performs a step, if it still has the claim. The row counts until the run has finished the step
  /// or is claimed again.
  ///
  /// - Throws: A ``RunStoreError`` if the file has a foreign table with the name.
  func store(_ step: RunningStep, by claim: ClaimToken) throws {
    try LateTable.steps.create(in: self)
    try execute(
      """
      INSERT OR REPLACE INTO run_step (run, position, fence, name, began)
      SELECT id, ?3, fence, ?4, ?5 FROM run WHERE id = ?1 AND fence = ?2 AND state = 'running'
      """,
      [
        .text(claim.run.text), .integer(Int64(claim.fence)), .integer(Int64(step.position)),
        .text(step.name), .integer(step.began),
      ])
  }

  /// Returns the step that a run performs; nil if it is not known.
  func runningStep(of run: StoredRun) throws -> RunningStep? {
    guard try LateTable.steps.presence(in: self) == .present else { return nil }
    return try fetchOne(
      "SELECT position, name, began FROM run_step WHERE run = ?1 AND fence = ?2 AND position = ?3",
      [.text(run.id.text), .integer(Int64(run.fence)), .integer(Int64(run.stepCount))]
    ) { row in
      RunningStep(
        position: Int(row.integer(at: 0)), name: row.text(at: 1) ?? "", began: row.integer(at: 2))
    }
  }
}
