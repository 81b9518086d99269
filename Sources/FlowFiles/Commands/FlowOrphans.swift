import SQLiteSupport
import SystemSupport

/// The leader of a session of processes that ran a command, as the journal identifies it.
package struct FlowCommandProcess: Codable, Hashable, Sendable {
  let unit: String
  let process: Int32
  /// See ``ListedProcess/began``.
  let began: Int64
  /// See ``ProcessTable/boot``.
  let boot: String

  package init(unit: String, process: Int32, began: Int64, boot: String) {
    (self.unit, self.process, self.began, self.boot) = (unit, process, began, boot)
  }

  /// Whether it is one of the processes. Another one may have got the same number.
  fileprivate func isRunning(in processes: [ListedProcess]) -> Bool {
    boot == ProcessTable.boot
      && processes.contains { $0.process == process && $0.began == began && !$0.isZombie }
  }

  /// Whether its environment has a mark, or is not known.
  fileprivate func hasMark(_ mark: String) -> Bool {
    ProcessTable.variable(FlowProcesses.variable, of: process).map {
      FlowProcesses.run(of: $0, after: mark) != nil
    } ?? true
  }
}

/// The processes of a flow that have outlived the process that ran the flow.
///
/// They are found by the environment variables that mark the commands of the flow, by the commands in
/// the journal, which has the commands that ran longer than 50 ms, and as descendants of both.
package struct FlowOrphans: Sendable {
  /// The steps and children whose processes are running.
  let units: Set<String>
  /// The commands in the journal that run and have the mark of another state: this one is a copy of it, or was moved
  /// from another file system.
  let foreign: [FlowCommandProcess]
  private let find: @Sendable () -> [FlowProcess]

  /// - Parameters:
  ///   - recorded: The commands in the journal.
  ///   - mark: The value of ``FlowProcesses/variable``, or what is before the number of a run in it.
  ///   - live: The runs that another process works on.
  ///   - isLeft: Whether a unit has succeeded in a run after the success with a number, which was the
  ///     last one when the process of the run began. Its background processes continue.
  package init(
    _ recorded: [FlowCommandProcess], mark: String, except live: Set<Int> = [],
    unless isLeft: @escaping @Sendable (_ run: Int, _ unit: String, _ beginning: Int64) -> Bool = {
      _, _, _ in false
    }
  ) {
    find = {
      let processes = ProcessTable.all
      let own = processes.ancestors(of: SystemProcess.identifier)
      // If this state is a copy, a command with another mark belongs to the original.
      let commands = recorded.filter { $0.isRunning(in: processes) && $0.hasMark(mark) }
      return processes.processes(under: nil) { process in
        if own.contains(process.process) { return .foreign }
        let found = ProcessTable.variable(FlowProcesses.variable, of: process.process)
        if let found, let run = FlowProcesses.run(of: found, after: mark) {
          if live.contains(run) { return .foreign }
          let value = ProcessTable.variable(FlowProcessTree.variable, of: process.process)
          guard let parts = value.flatMap(FlowProcessTree.parts) else { return .unit("") }
          return isLeft(run, parts.unit, parts.beginning) ? .foreign : .unit(parts.unit)
        }
        let command = commands.first { [process.session, process.group].contains($0.process) }
        return command.map { .unit(FlowFolder.fileName($0.unit)) } ?? .none
      }
    }
    units = Set(find().map(\.unit))
    let processes = recorded.isEmpty ? [] : ProcessTable.all
    foreign = recorded.filter { $0.isRunning(in: processes) && !$0.hasMark(mark) }
  }

  /// Terminates the processes, and waits for their end.
  ///
  /// - Parameter grace: Returns the time between SIGTERM and SIGKILL for a unit.
  /// - Throws: A ``FlowFailure`` if some do not end.
  package func terminate(within grace: (_ unit: String) -> Duration) async throws {
    let ender = FlowProcessEnder(find: find)
    let left = await withTaskGroup(of: [Int32].self) { group in
      for unit in units {
        let grace = grace(unit)
        group.addTask { await ender.end(unit, within: grace) }
      }
      return await group.reduce([], +)
    }
    if left.isEmpty { return }
    let list = left.sorted().map { "\($0)" }.joined(separator: ", ")
    throw FlowFailure.other("processes of an earlier run do not end after SIGKILL: \(list)")
  }
}

extension [ListedProcess] {
  /// A process with its parent, the parent of that, and so on.
  fileprivate func ancestors(of process: Int32) -> Set<Int32> {
    let parents = Dictionary(map { ($0.process, $0.parent) }) { first, _ in first }
    var ancestors: Set<Int32> = []
    var next: Int32? = process
    while let process = next, ancestors.insert(process).inserted { next = parents[process] }
    return ancestors
  }
}

/// The states of earlier runs, which show whether a process is a background process of a step that has
/// succeeded.
struct FlowEarlierRuns: Sendable {
  /// The runs that have not succeeded.
  fileprivate let unfinished: Set<Int>
  /// The numbers of their successes, by run and ``FlowUnit/processName``.
  fileprivate let numbers: [Int: [String: Int64]]

  /// See ``FlowOrphans/init(_:mark:except:unless:)``. A process without the number of a run is not left.
  func hasLeft(_ run: Int, _ unit: String, _ beginning: Int64) -> Bool {
    run > 0 && (!unfinished.contains(run) || numbers[run]?[unit].map { $0 > beginning } ?? false)
  }
}

extension FlowJournal {
  func earlierRuns() async throws -> FlowEarlierRuns {
    try await worker.run { [flow] connection in
      let unfinished = try connection.fetchAll(
        "SELECT number FROM flow_run WHERE flow = ?1 AND state IS NOT 'succeeded'", [.text(flow)]
      ) { Int($0.integer(at: 0)) }
      var numbers: [Int: [String: Int64]] = [:]
      _ = try connection.fetchAll(
        """
        SELECT run, step, number FROM (SELECT run, step, number FROM flow_left WHERE flow = ?1
          UNION ALL SELECT run, step, number FROM flow_success WHERE flow = ?1 AND run IN
            (SELECT number FROM flow_run WHERE flow = ?1 AND state IS NOT 'succeeded'))
        ORDER BY number
        """, [.text(flow)]
      ) { row in
        let name = FlowFolder.fileName(row.text(at: 1) ?? "")
        numbers[Int(row.integer(at: 0)), default: [:]][name] = row.integer(at: 2)
      }
      return FlowEarlierRuns(unfinished: Set(unfinished), numbers: numbers)
    }
  }

  /// The commands that were running when the processes of runs wrote the journal.
  ///
  /// - Parameter live: Runs whose commands are not returned.
  func commandProcesses(except live: Set<Int>) async throws -> [FlowCommandProcess] {
    let live = Self.json(live)
    return try await worker.run { [flow] connection in
      try connection.fetchAll(
        """
        SELECT step, pid, began, boot FROM flow_process
        WHERE flow = ?1 AND run NOT IN (SELECT value FROM json_each(?2))
        """, [.text(flow), .text(live)]
      ) { row in
        FlowCommandProcess(
          unit: row.text(at: 0) ?? "", process: Int32(truncatingIfNeeded: row.integer(at: 1)),
          began: row.integer(at: 2), boot: row.text(at: 3) ?? "")
      }
    }
  }

  func removeCommandProcesses(ofRun run: Int) async throws {
    try await worker.run { [flow] connection in
      try connection.execute(
        "DELETE FROM flow_process WHERE flow = ?1 AND run = ?2",
        [.text(flow), .integer(Int64(run))]
      )
    }
  }

  /// Stores which commands of a run have begun and ended. The caller does not wait for it.
  func storeLater(began: [FlowCommandProcess], ended: [Int32], ofRun run: Int) {
    worker.runLaterIfOpen { [flow] connection in
      // The mark of the commands is enough if this fails.
      try? connection.transaction(.immediate) {
        for process in ended {
          try connection.execute(
            "DELETE FROM flow_process WHERE flow = ?1 AND pid = ?2",
            [.text(flow), .integer(Int64(process))])
        }
        for command in began {
          try connection.execute(
            "INSERT OR REPLACE INTO flow_process VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            [
              .text(flow), .integer(Int64(run)), .text(command.unit),
              .integer(Int64(command.process)), .integer(command.began), .text(command.boot),
            ])
        }
      }
    }
  }
}
