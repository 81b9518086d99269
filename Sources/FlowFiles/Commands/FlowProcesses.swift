import CompositeOperations
import CompositeOperationsFoundation
import Dispatch
import SystemSupport

/// The commands that run: for an exit that does not wait for them, and in the journal for the next
/// process.
package final class FlowProcesses: Sendable {
  /// The environment variable that marks the commands of a flow.
  package static let variable = "COOP_FLOW"
  /// How long a command runs before it is stored. Most commands end before that.
  private static let delay = DispatchTimeInterval.milliseconds(50)

  private struct State {
    var running: [ExactText: RunningProcess] = [:]
    /// The commands that are stored, by unit.
    var stored: [ExactText: Int32] = [:]
    /// The stored commands that have ended.
    var ended: [Int32] = []
    var isScheduled = false
    /// Whether ended descendants are looked for once a second.
    var isReaping = false
  }

  /// The value of the variable.
  private let mark: String
  private let run: Int
  private let journal: FlowJournal
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "commands")
  private let tree: FlowProcessTree
  private let ender: FlowProcessEnder

  /// - Parameters:
  ///   - run: The number of the run.
  ///   - number: The number of the last success of the flow.
  ///   - isSole: Whether no other code of this process starts processes.
  init(ofRun run: Int, after number: Int64, isSole: Bool, journal: FlowJournal) throws {
    mark = Self.value(try journal.mark, run)
    (self.run, self.journal) = (run, journal)
    tree = FlowProcessTree(mark, after: number, isSole: isSole)
    ender = FlowProcessEnder { [tree] in tree.processes() }
  }

  /// The value of the variable.
  ///
  /// - Parameter mark: See ``FlowJournal/mark``.
  static func value(_ mark: String, _ run: Int) -> String { "\(mark)#\(run)" }

  /// Returns the number of the run in a value of the variable, 0 without one; nil if it has another mark.
  static func run(of value: String, after mark: String) -> Int? {
    guard value.utf8.starts(with: mark.utf8) else { return nil }
    let rest = value.utf8.dropFirst(mark.utf8.count)
    if rest.isEmpty { return 0 }
    return rest.first == UInt8(ascii: "#") ? Int(Substring(rest.dropFirst())) : nil
  }

  /// Returns a process that is marked as one of a unit.
  func marking(_ process: ProcessOperation, as unit: FlowUnit) -> ProcessOperation {
    process.settingVariables([
      Self.variable: mark, FlowProcessTree.variable: tree.begins(unit.processName),
    ])
  }

  func began(_ process: RunningProcess, _ unit: FlowUnit) {
    tree.began(process.processIdentifier, unit.processName)
    let isFirst = state.withLock { state in
      state.running[ExactText(unit.name)] = process
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.delay) { [self] in store() } }
  }

  func ended(_ unit: FlowUnit) {
    state.withLock { state in
      let unit = ExactText(unit.name)
      state.running[unit] = nil
      if let process = state.stored.removeValue(forKey: unit) { state.ended.append(process) }
    }
  }

  /// Sends a signal to all processes of the steps that are running or being ended.
  func send(_ signal: Int32) {
    let running = state.withLock(\.running)
    // Also units whose command has just begun and is not in `running` yet.
    let units = ender.units.union(tree.active)
    let commands = Set(running.values.map(\.processIdentifier))
    for process in tree.processes() where units.contains(process.unit) {
      if commands.contains(process.process.group) { continue }
      try? SystemProcess.send(signal, to: process.process.process)
    }
    // Last, so that the caller can cancel the run before a step ends because of the signal.
    for command in running.values { command.send(ProcessSignal(rawValue: signal)) }
  }

  /// Begins to end the processes of a unit whose command is being terminated, except the process group of
  /// the command.
  func beginEnd(of unit: FlowUnit) { ender.begin(unit.processName, within: unit.step.stopGrace) }

  /// The command of a unit had ended by itself.
  ///
  /// - Returns: Whether no process of the unit has received a signal.
  func cancelEnd(of unit: FlowUnit) -> Bool { ender.cancel(unit.processName) }

  /// No command of a unit begins any more.
  func unitEnded(_ unit: FlowUnit) { tree.ended(unit.processName) }

  /// Ends processes that do not show which unit has started them.
  func endUnknown(within grace: Duration) async {
    _ = await ender.end(FlowProcessTree.unknown, within: grace)
  }

  /// Ends the processes of a unit that has no running command, and waits for their end.
  ///
  /// - Throws: ``FlowFailure`` if they do not end after SIGKILL.
  func end(_ unit: FlowUnit) async throws {
    let left = await ender.end(unit.processName, within: unit.step.stopGrace)
    if left.isEmpty { return }
    let list = left.map { "\($0)" }.joined(separator: ", ")
    throw FlowFailure.other("its processes do not end after SIGKILL: \(list)")
  }

  /// Collects the statuses of adopted processes, again and again while commands run.
  private func reap() {
    AdoptedProcesses.reap()
    let continues = state.withLock { state in
      state.isReaping = !state.running.isEmpty
      return state.isReaping
    }
    if continues { queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.reap() } }
  }

  /// Stores the changes since the last call.
  private func store() {
    if !state.withLock(\.isReaping) { reap() }
    let (new, ended) = state.withLock { state in
      state.isScheduled = false
      let new = state.running.filter { unit, process in
        state.stored[unit] != process.processIdentifier
      }
      for (unit, process) in new { state.stored[unit] = process.processIdentifier }
      defer { state.ended = [] }
      return (new, state.ended)
    }
    let began = new.compactMap { unit, process in
      ProcessTable.listed(process.processIdentifier).map {
        FlowCommandProcess(
          unit: unit.text, process: $0.process, began: $0.began, boot: ProcessTable.boot)
      }
    }
    if !began.isEmpty || !ended.isEmpty {
      journal.storeLater(began: began, ended: ended, ofRun: run)
    }
  }
}
