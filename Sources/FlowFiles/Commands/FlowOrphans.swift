import SQLiteSupport
import SystemSupport

/// The leader of a group of processes that ran a command, as the journal identifies it.
struct FlowCommandProcess: Codable, Hashable, Sendable {
  let unit: String
  let process: Int32
  /// See ``ListedProcess/began``.
  let began: Int64
  /// See ``ProcessTable/boot``.
  let boot: String
}

/// The commands of a flow that have outlived the process that ran the flow.
///
/// The journal has the commands that ran longer than a moment. The others are found by the
/// environment variable that marks the commands of the flow.
struct FlowOrphans: Sendable {
  /// How long a command has to end by itself.
  static let grace = Duration.seconds(2)

  /// The groups of processes, by their leaders.
  let groups: Set<Int32>

  /// - Parameters:
  ///   - recorded: The commands in the journal.
  ///   - mark: The variable with its value.
  init(_ recorded: [FlowCommandProcess], mark: String) {
    var groups: Set<Int32> = []
    let boot = ProcessTable.boot
    let processes = ProcessTable.all
    let own = SystemProcess.group(of: 0)
    for command in recorded where command.boot == boot {
      // Another process may have got the same number.
      let isSame = processes.contains {
        $0.process == command.process && $0.began == command.began && !$0.isZombie
      }
      if isSame { groups.insert(command.process) }
    }
    // A process that has begun a session of its own is a service, which the command has left
    // running deliberately.
    for process in processes
    where !process.isZombie && process.group != own && process.group != process.session
      && !groups.contains(process.group) && ProcessTable.hasVariable(mark, process.process)
    {
      groups.insert(process.group)
    }
    self.groups = groups
  }

  /// Terminates the groups: SIGTERM, and SIGKILL after the grace period.
  func terminate() async throws {
    for group in groups { try? SystemProcess.send(SystemSignal.terminate, toGroup: group) }
    if try await haveEnded(within: Self.grace) { return }
    for group in groups { try? SystemProcess.send(SystemSignal.kill, toGroup: group) }
    _ = try await haveEnded(within: Self.grace)
  }

  private func haveEnded(within limit: Duration) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while true {
      if !ProcessTable.all.contains(where: { groups.contains($0.group) && !$0.isZombie }) {
        return true
      }
      if ContinuousClock.now >= end { return false }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

extension FlowJournal {
  /// The commands that were running when the last process of the flow wrote the journal.
  func commandProcesses() async throws -> [FlowCommandProcess] {
    try await worker.run { [flow] connection in
      try connection.fetchAll(
        "SELECT step, pid, began, boot FROM flow_process WHERE flow = ?1", [.text(flow)]
      ) { row in
        FlowCommandProcess(
          unit: row.text(at: 0) ?? "", process: Int32(truncatingIfNeeded: row.integer(at: 1)),
          began: row.integer(at: 2), boot: row.text(at: 3) ?? "")
      }
    }
  }

  func removeCommandProcesses() async throws {
    try await worker.run { [flow] connection in
      try connection.execute("DELETE FROM flow_process WHERE flow = ?1", [.text(flow)])
    }
  }

  /// Stores which commands have begun and ended. The caller does not wait for it.
  func storeLater(began: [FlowCommandProcess], ended: [Int32]) {
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
            "INSERT OR REPLACE INTO flow_process VALUES (?1, ?2, ?3, ?4, ?5)",
            [
              .text(flow), .text(command.unit), .integer(Int64(command.process)),
              .integer(command.began), .text(command.boot),
            ])
        }
      }
    }
  }
}
