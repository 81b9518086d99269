import CompositeOperations
import SQLiteSupport
import SystemSupport

/// Stores the successes of a flow. Those that end within a short time share a transaction.
final class FlowSuccesses: Sendable {
  private final class Entry: Sendable {
    let record: FlowRecord
    let replacesOthers: Bool
    let result = Lock<Result<FlowRecord, any Error>?>(nil)

    init(_ record: FlowRecord, replacesOthers: Bool) {
      (self.record, self.replacesOthers) = (record, replacesOthers)
    }
  }

  private let pending = Lock<[Entry]>([])

  /// Stores a success before it returns. A cancellation has no effect: the step has succeeded.
  func add(
    _ record: FlowRecord, replacesOthers: Bool, of flow: String, by worker: SQLiteWorker
  ) async throws -> FlowRecord {
    let entry = Entry(record, replacesOthers: replacesOthers)
    pending.withLock { $0.append(entry) }
    // The request of an earlier success may store this one, too.
    try await Task.immediate { [self] in
      try await worker.run { [self] connection in storePending(of: flow, on: connection) }
    }.value
    guard let result = entry.result.withLock(\.self) else {
      throw FlowFailure.other("the success was not stored")
    }
    return try result.get()
  }

  private func storePending(of flow: String, on connection: SQLiteConnection) {
    let entries = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    if entries.isEmpty { return }
    let results: [Result<FlowRecord, any Error>]
    do {
      results = try connection.transaction(.immediate) {
        var number = try connection.lastNumber(of: flow)
        let records = try entries.map { entry in
          number += 1
          return try connection.store(entry.record, as: number, entry.replacesOthers, flow)
        }
        try connection.execute(
          "INSERT OR REPLACE INTO flow_counter VALUES (?1, ?2)", [.text(flow), .integer(number)])
        return records
      }.map { .success($0) }
    } catch {
      results = entries.map { _ in .failure(error) }
    }
    for (entry, result) in zip(entries, results) { entry.result.withLock { $0 = result } }
  }
}

extension SQLiteConnection {
  fileprivate func lastNumber(of flow: String) throws -> Int64 {
    try fetchOne("SELECT number FROM flow_counter WHERE flow = ?1", [.text(flow)]) {
      $0.integer(at: 0)
    } ?? 0
  }

  fileprivate func store(
    _ record: FlowRecord, as number: Int64, _ replacesOthers: Bool, _ flow: String
  ) throws -> FlowRecord {
    var record = record
    record.number = number
    if record.made == 0 { record.made = number }
    if replacesOthers {
      // With other values, the outputs are other files, which count for the run that has made them.
      let others = "FROM flow_success AS old WHERE flow = ?1 AND step = ?2 AND run <> ?3"
      func hasRun(_ condition: String) -> String {
        "EXISTS (SELECT 1 FROM flow_run WHERE flow = ?1 AND number = old.run AND (\(condition)))"
      }
      let isUnfinished = "state IS NULL OR state = 'failed'"
      let hasOtherValues =
        "\"values\" <> (SELECT \"values\" FROM flow_run WHERE flow = ?1 AND number = ?3)"
      let values: [SQLiteValue] = [
        .text(flow), .text(record.unit), .integer(Int64(record.run)), .text(record.definition),
      ]
      try execute(
        """
        INSERT OR REPLACE INTO flow_left
          SELECT flow, run, step, number \(others) AND definition = ?4 AND \(hasRun(isUnfinished))
        """, values)
      let isKept = hasRun("\(isUnfinished) OR \(hasOtherValues)")
      try execute("DELETE \(others) AND (definition = ?4 OR NOT \(isKept))", values)
    }
    try execute(
      "INSERT OR REPLACE INTO flow_success VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
      [
        .text(flow), .text(record.unit), .integer(Int64(record.run)), .text(record.definition),
        .text(record.inputs), .text(record.outputs),
        record.lines.map { .text(FlowJournal.json($0)) } ?? .null,
        .text(record.used.text),
        .integer(number), .integer(record.made), .integer(record.ended),
        .integer(record.duration),
      ])
    return record
  }
}

extension FlowJournal {
  /// Replaces the files in records of the last successes.
  func renew(_ records: [FlowRecord]) async throws {
    if records.isEmpty { return }
    try await worker.run { [flow] connection in
      try connection.transaction(.immediate) {
        for record in records {
          try connection.execute(
            """
            UPDATE flow_success SET inputs = ?4, outputs = ?5
            WHERE flow = ?1 AND step = ?2 AND number = ?3
            """,
            [
              .text(flow), .text(record.unit), .integer(record.number), .text(record.inputs),
              .text(record.outputs),
            ])
        }
      }
    }
  }

  /// Returns the last successes by the name of the step or the child: of a step that has succeeded in
  /// some of the runs, the last one in them; otherwise the last one with the current definition, if there is one;
  /// otherwise one of the last ones.
  ///
  /// - Parameters:
  ///   - runs: The numbers of the runs that count first.
  ///   - definitions: Texts to use for equal definitions, by the name of the step, so that 10,000 of
  ///     them are not stored twice.
  func records(
    preferring runs: Set<Int>, sharing definitions: [String: String]
  ) async throws -> [ExactText: FlowRecord] {
    try await worker.run { [flow] connection in
      var reader = FlowRecordReader(of: flow, preferring: runs, sharing: definitions)
      try reader.read(from: connection)
      return reader.records
    }
  }
}
