import CompositeOperations
import CompositeOperationsFoundation
import Dispatch
import SystemSupport

/// The commands that run: for an exit that does not wait for them, and in the journal for the next
/// process.
final class FlowProcesses: Sendable {
  /// The environment variable that marks the commands of a flow.
  static let variable = "COOP_FLOW"
  /// How long a command runs before it is stored. Most commands end before that.
  private static let delay = DispatchTimeInterval.milliseconds(50)

  private struct State {
    var running: [ExactText: RunningProcess] = [:]
    /// The commands that are stored, by unit.
    var stored: [ExactText: Int32] = [:]
    /// The stored commands that have ended.
    var ended: [Int32] = []
    var isScheduled = false
  }

  /// The value of the variable: the flow and the journal.
  let mark: String
  private let journal: FlowJournal
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "commands")

  init(mark: String, journal: FlowJournal) {
    self.mark = mark
    self.journal = journal
  }

  func began(_ process: RunningProcess, _ unit: FlowUnit) {
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

  /// Kills the commands that are running.
  func kill() {
    for process in state.withLock({ Array($0.running.values) }) { process.send(.kill) }
  }

  /// Stores the changes since the last call.
  private func store() {
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
    if !began.isEmpty || !ended.isEmpty { journal.storeLater(began: began, ended: ended) }
  }
}
