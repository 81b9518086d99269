import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation
import SQLiteSupport
import SystemSupport

/// Reads runs of flow files from the journal that has them, without writing to it.
final class FlowRunReader: Sendable {
  /// The number of children that a page knows by name.
  private static let mostChildren = 200
  /// The number of running steps whose logs are watched.
  private static let mostWatched = 30

  private let path: String
  /// The path of the folder of the state.
  private let state: String
  private let worker: SQLiteWorker
  private let lastFile = Lock<(path: String, status: FileStatus, file: FlowFile)?>(nil)

  /// - Parameter path: The SQLite file.
  init(journal path: String) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    state = FlowStateFile.folder(of: path)
    worker = SQLiteWorker("flow reader") {
      try SQLiteConnection.open(path, for: .reading, SQLiteConfiguration(access: .existing))
    }
  }

  /// Returns the steps of a run; nil if it is not a run of a flow file.
  ///
  /// - Parameter step: A step or a child that is included in any case.
  func steps(of run: RunSummary, including step: String?) async throws -> FlowRunSteps? {
    guard let key = Key(run),
      let rows = try await read({ try FlowRunRows($0, key, Self.mostChildren, step) }) ?? nil
    else { return nil }
    return steps(key, rows, run)
  }

  /// Returns a step or a child of a run; nil if there is none with the name.
  func step(_ name: String, of run: RunSummary) async throws -> FlowRunSteps? {
    guard let key = Key(run),
      let rows = try await read({ try FlowRunRows($0, key, 1, name, isAlone: true) }) ?? nil
    else { return nil }
    if !rows.steps.isEmpty || !rows.children.isEmpty {
      return steps(key, rows, run).only(name)
    }
    // The outcomes that it waits for depend on the other steps.
    return try await steps(of: run, including: name)?.only(name)
  }

  /// Returns how far the runs of flow files among some runs are.
  func progress(of runs: [RunSummary]) async throws -> [RunID: FlowProgress] {
    let keys = runs.compactMap { run in Key(run).map { (id: run.id, key: $0) } }
    if keys.isEmpty { return [:] }
    let names = try JSONRunCoder().encode(keys.map { [$0.key.flow, "\($0.key.number)"] })
    let found = try await read(from: ["flow_run", "flow_step", "flow_size"]) { connection in
      try connection.fetchAll(
        """
        SELECT key, steps, count(flow_step.state), count(*) FILTER (WHERE flow_step.state = 'failed')
        FROM (SELECT key, value ->> 0 AS flow, CAST(value ->> 1 AS INTEGER) AS run
            FROM json_each(?1)) AS wanted
          CROSS JOIN flow_run ON flow_run.flow = wanted.flow AND number = wanted.run
          LEFT JOIN flow_size USING (flow, run)
          LEFT JOIN flow_step ON flow_step.flow = wanted.flow AND flow_step.run = wanted.run
            AND flow_step.parent IS NULL
        GROUP BY key
        """, [.text(names)]
      ) { row in
        let (id, key) = keys[Int(row.integer(at: 0))]
        let count = row.text(at: 1) == nil ? nil : Int(row.integer(at: 1))
        return (
          id,
          FlowProgress(
            flow: key.flow, stepCount: count, ended: Int(row.integer(at: 2)),
            failed: Int(row.integer(at: 3)))
        )
      }
    }
    return Dictionary(found ?? [], uniquingKeysWith: { $1 })
  }

  /// Returns the command that continues a run; nil if `coop flow run` begins a new one, or if the
  /// run is in progress.
  func continuation(of details: RunDetails) async throws -> String? {
    let run = details.summary
    guard let key = Key(run), run.cancelled == nil,
      run.state != .result, run.state != .cancelled, run.state != .running
    else { return nil }
    let found =
      try await read(from: ["flow_run"]) { connection in
        try connection.fetchOne(
          """
          SELECT file, "values", selection, name FROM flow_run AS this WHERE flow = ?1 AND number = ?2 AND NOT EXISTS
            (SELECT 1 FROM flow_run AS later WHERE later.flow = ?1 AND later.number > ?2
              AND later."values" = this."values" AND later.selection IS this.selection)
          """, key.values
        ) { row in
          (
            file: row.text(at: 0) ?? "", values: row.text(at: 1) ?? "", selection: row.text(at: 2),
            name: row.text(at: 3)
          )
        }
      } ?? nil
    // A run of some steps without what they need is always a new one.
    guard let found, found.selection?.hasPrefix("--") != true,
      let values = try? JSONDecoder().decode([String: String].self, from: Data(found.values.utf8))
    else { return nil }
    let file = found.file
    var words = ["coop", "flow", "run", file]
    let defaults = (try? self.file(file, named: key.flow))?.texts ?? [:]
    for (name, text) in values.sorted(by: { $0.key < $1.key }) where defaults[name] != text {
      words += ["--set", "\(name)=\(text)"]
    }
    if path != FlowFolder(ofFile: file, flow: key.flow).database { words += ["--state", state] }
    if let name = found.name { words += ["--run", name] }
    words += found.selection?.split(separator: " ").map(String.init) ?? []
    return words.map(\.quotedForShell).joined(separator: " ")
  }

  private func steps(_ key: Key, _ rows: FlowRunRows, _ run: RunSummary) -> FlowRunSteps {
    var problem: String?
    var file: FlowFile?
    do { file = try self.file(rows.file, named: key.flow) } catch {
      problem = "The flow file cannot be read: \("\(error)".onOneLine)"
    }
    return FlowRunSteps(key.flow, rows, file, problem, logs(key), run)
  }

  /// Opens the log of a step or a child of a run. The caller closes it.
  ///
  /// - Throws: A ``FlowRunLogs/Problem``; an error of the journal; nil if there is no such step.
  func log(of step: String, in run: RunSummary) async throws -> (file: FileDescriptor, size: Int)? {
    try await self.step(step, of: run)?.logs.open(step)
  }

  /// Returns the logs that can grow: those of the steps that run, and that of another step.
  func growingLogs(
    of id: RunID, including step: String?
  ) async throws -> (logs: FlowRunLogs, units: [String])? {
    guard let key = Key(id) else { return nil }
    let limit = Self.mostWatched
    return try await read { connection in
      let units = try connection.fetchAll(
        """
        SELECT step FROM flow_step WHERE flow = ?1 AND run = ?2 AND state IS NULL
          AND children IS NULL ORDER BY began DESC LIMIT ?3
        """, key.values + [.integer(Int64(limit))]
      ) { $0.text(at: 0) ?? "" }
      return (self.logs(key), units + [step].compactMap(\.self))
    } ?? nil
  }

  private func logs(_ key: Key) -> FlowRunLogs {
    FlowRunLogs(ofRun: key.number, inState: state)
  }

  /// Reads from the journal; nil if it does not have the tables.
  private func read<Rows: Sendable>(
    from tables: [String] = ["flow_run", "flow_step", "flow_command"],
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Rows
  ) async throws -> Rows? {
    let names = tables.map { "'\($0)'" }.joined(separator: ", ")
    return try await worker.run { connection in
      try connection.transaction(.deferred) {
        let count = try connection.fetchOne(
          "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN (\(names))"
        ) { Int($0.integer(at: 0)) }
        return count == tables.count ? try body(connection) : nil
      }
    }
  }

  /// Reads the flow file, unless it is the one that was read last.
  private func file(_ path: String, named flow: String) throws -> FlowFile {
    let status = try FileStatus(ofFile: path)
    if let last = lastFile.withLock(\.self), last.path == path,
      last.status.isUnchanged(since: status)
    {
      return last.file
    }
    if status.kind != .file { throw UnreadableFileError("it is not a file") }
    let file = try FlowFile.read(contentsOf: path)
    if file.name != flow { throw UnreadableFileError("it has the flow '\(file.name)' now") }
    lastFile.withLock { $0 = (path, status, file) }
    return file
  }

  /// A run of a flow in a journal.
  struct Key: Sendable {
    let flow: String
    let number: Int

    var values: [SQLiteValue] { [.text(flow), .integer(Int64(number))] }

    /// Nil for a run of another sequence.
    init?(_ run: RunSummary) {
      guard run.flow == FlowRunBackend.flowName else { return nil }
      self.init(run.id)
    }

    init?(_ id: RunID) {
      guard let sign = id.text.lastIndex(of: "#"),
        let number = Int(id.text[id.text.index(after: sign)...])
      else { return nil }
      // It becomes a part of the path of the logs.
      let flow = String(id.text[..<sign])
      guard flow.isFlowName else { return nil }
      (self.flow, self.number) = (flow, number)
    }
  }
}

/// Why a flow file is not the one of a run.
private struct UnreadableFileError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
