import CompositeOperations
import CompositeOperationsFoundation
import SystemSupport

/// A process that a command of a flow has started, directly or indirectly.
struct FlowProcess: Sendable {
  let process: ListedProcess
  /// The step or the child. See ``FlowUnit/processName``.
  let unit: String
  /// Whether it is the program of a command, or in the process group of one.
  var isOfCommand = false
}

/// The information in a process about the unit that has started it.
enum FlowProcessSign {
  case none
  case unit(String)
  /// It and its descendants belong to no unit.
  case foreign
}

extension [ListedProcess] {
  /// Returns the running descendants of a process that belong to a unit: by their own sign, or else
  /// by the sign of the nearest ancestor that has one.
  ///
  /// - Parameter root: The process; nil for all processes.
  func processes(under root: Int32?, sign: (ListedProcess) -> FlowProcessSign) -> [FlowProcess] {
    let children = Dictionary(grouping: self, by: \.parent)
    let known = Set(map(\.process))
    var pending: [(process: ListedProcess, unit: String?)] =
      (root.map { children[$0] ?? [] } ?? filter { !known.contains($0.parent) }).map { ($0, nil) }
    var found: [FlowProcess] = []
    while let (process, inherited) = pending.popLast() {
      if process.isZombie { continue }
      let unit: String? =
        switch sign(process) {
        case .none: inherited
        case .unit(let unit): unit
        case .foreign: nil
        }
      if let unit { found.append(FlowProcess(process: process, unit: unit)) }
      pending += (children[process.process] ?? []).map { ($0, unit) }
    }
    return found
  }
}

/// Finds the processes of the commands that this process runs, in any process group and session. It
/// becomes the parent of those whose parent ends, so all of them are its descendants.
final class FlowProcessTree: Sendable {
  /// The environment variable with the process of the flow and the unit.
  static let variable = "COOP_FLOW_STEP"
  /// The unit of processes that have cleared their environment, left their session and lost their
  /// parent while commands of several units ran.
  static let unknown = ""

  private struct State {
    /// The units whose commands may run.
    var active: Set<String> = []
    /// Since when no other unit has been active, as ``ListedProcess/began``; nil while several are.
    var aloneSince: Int64?
    /// The units by the process that leads the session of a command, and when it began.
    var sessions: [Int32: (unit: String, began: Int64?)] = [:]
  }

  /// The marks of the flows that this process runs, with the number of their trees.
  private static let marks = Lock<[String: Int]>([:])

  /// The number of the last success when this process began to run the flow.
  private let beginning: Int64
  private let mark: String
  private let start = ProcessTable.now
  /// Whether only the flow starts processes.
  private let isSole: Bool
  private let state = Lock(State())

  /// - Parameters:
  ///   - mark: The value of ``FlowProcesses/variable``, which commands of another flow that a command
  ///     runs do not have.
  ///   - isSole: Whether no other code of this process starts processes.
  init(_ mark: String, after number: Int64, isSole: Bool) {
    self.mark = mark
    self.isSole = isSole
    beginning = number
    Self.marks.withLock { marks in
      if marks.isEmpty { ProcessTable.adoptOrphans(true) }
      marks[mark, default: 0] += 1
    }
  }

  deinit {
    Self.marks.withLock { marks in
      marks[mark, default: 1] -= 1
      if marks[mark] == 0 { marks[mark] = nil }
      // Orphans of other programs would remain as zombies.
      if marks.isEmpty { ProcessTable.adoptOrphans(false) }
    }
  }

  /// Notes that a command of a unit begins.
  ///
  /// - Returns: The value of the variable.
  func begins(_ unit: String) -> String {
    state.withLock { state in
      if state.active.insert(unit).inserted {
        state.aloneSince = state.active.count == 1 ? ProcessTable.now : nil
      }
    }
    return "\(beginning):\(unit)"
  }

  func began(_ command: Int32, _ unit: String) {
    let began = ProcessTable.listed(command)?.began
    state.withLock { $0.sessions[command] = (unit, began) }
  }

  func ended(_ unit: String) {
    state.withLock { state in
      state.active.remove(unit)
      if state.active.count == 1, state.aloneSince == nil { state.aloneSince = ProcessTable.now }
    }
  }

  /// The units whose commands may run.
  var active: Set<String> { state.withLock(\.active) }

  /// The parts of a value of the variable.
  static func parts(of mark: String) -> (beginning: Int64, unit: String)? {
    let parts = mark.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let beginning = Int64(parts[0]) else { return nil }
    return (beginning, String(parts[1]))
  }

  /// Returns the running processes of all units.
  func processes() -> [FlowProcess] {
    let state = state.withLock { $0 }
    let programs = AdoptedProcesses.startedPrograms
    let isAlone = Self.marks.withLock { $0.count == 1 }
    let own = ProcessTable.listed(SystemProcess.identifier)?.session
    let all = ProcessTable.all
    let begins = Dictionary(all.map { ($0.process, $0.began) }) { $1 }
    let processes = all.processes(under: SystemProcess.identifier) { process in
      if let value = ProcessTable.variable(Self.variable, of: process.process),
        let parts = Self.parts(of: value), parts.beginning == beginning,
        ProcessTable.variable(FlowProcesses.variable, of: process.process) == mark
      {
        return .unit(parts.unit)
      }
      // A process with the number of an ended leader leads another session.
      if let session = state.sessions[process.session],
        begins[process.session].map({ $0 == session.began }) ?? true
      {
        return .unit(session.unit)
      }
      // Other code of this process, or another of its flows, may have started it.
      if !isSole || !isAlone || process.parent != SystemProcess.identifier
        || process.session == own || programs.contains(process.process) || process.began < start
      {
        return .none
      }
      if let since = state.aloneSince, process.began >= since, let unit = state.active.first {
        return .unit(unit)
      }
      return .unit(Self.unknown)
    }
    return processes.map { process in
      let isOfCommand =
        programs.contains(process.process.process) || programs.contains(process.process.group)
      return FlowProcess(process: process.process, unit: process.unit, isOfCommand: isOfCommand)
    }
  }
}
