import CompositeOperations
import Dispatch
import SystemSupport

/// Ends the processes of units: by SIGTERM, and after a grace period by SIGKILL. All units share one
/// look at the processes of the system.
final class FlowProcessEnder: Sendable {
  private struct Ending {
    let killing: ContinuousClock.Instant
    /// When processes have received SIGTERM, as ``ListedProcess/began``.
    var told: [Int32: Int64] = [:]
    /// When the process group of a running command received it from the caller.
    var groupTold: Int64?
    var hasSent = false
    var waiters: [CheckedContinuation<[Int32], Never>] = []

    /// Returns the processes that receive SIGTERM now: all but those that have received it, and those
    /// that their parent has started since it received it, which clean up.
    ///
    /// - Parameter processes: The running processes of the unit, parents before their children.
    mutating func processesToTell(of processes: [FlowProcess]) -> [Int32] {
      let now = ProcessTable.now
      var cleaningUp: Set<Int32> = []
      return processes.compactMap { found in
        let (process, parent) = (found.process.process, found.process.parent)
        if found.isOfCommand, let groupTold {
          told[process] = groupTold
          return nil
        }
        // Another process may have got the same number.
        if let time = told[process], found.process.began <= time { return nil }
        let isCleaningUp = told[parent].map { found.process.began >= $0 }
        if isCleaningUp ?? cleaningUp.contains(parent) {
          cleaningUp.insert(process)
          return nil
        }
        told[process] = now
        hasSent = true
        return process
      }
    }
  }

  private struct State {
    var endings: [String: Ending] = [:]
    /// Whether the next look at the processes is at once, or after a pause.
    var isDue = false
    var isScheduled = false
  }

  /// How long the end of killed processes is awaited: some wait for a device.
  private static let killTime = Duration.seconds(10)

  private let find: @Sendable () -> [FlowProcess]
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "ends of commands")

  /// - Parameter find: Returns the running processes of all units.
  init(find: @escaping @Sendable () -> [FlowProcess]) { self.find = find }

  /// The units of which processes are being ended.
  var units: Set<String> { state.withLock { Set($0.endings.keys) } }

  /// Terminates the processes of a unit whose command is running. The caller terminates the process
  /// group of the command, and calls ``end(_:within:)`` or ``cancel(_:)`` after its end.
  func begin(_ unit: String, within grace: Duration) { add(unit, grace, nil) }

  /// Ends no more processes of a unit, because its command had ended by itself.
  ///
  /// - Returns: Whether none has received a signal.
  func cancel(_ unit: String) -> Bool {
    state.withLock { $0.endings.removeValue(forKey: unit)?.hasSent != true }
  }

  /// Ends the processes of a unit, and waits for their end, also in a cancelled task.
  ///
  /// - Returns: The processes that have not ended after SIGKILL.
  func end(_ unit: String, within grace: Duration) async -> [Int32] {
    await withCheckedContinuation { add(unit, grace, $0) }
  }

  private func add(
    _ unit: String, _ grace: Duration, _ waiter: CheckedContinuation<[Int32], Never>?
  ) {
    let isFirst = state.withLock { state in
      var ending = state.endings[unit] ?? Ending(killing: .now + grace)
      if let waiter { ending.waiters.append(waiter) } else { ending.groupTold = ProcessTable.now }
      state.endings[unit] = ending
      defer { state.isDue = true }
      return !state.isDue
    }
    if isFirst { queue.async { [self] in signal() } }
  }

  /// Sends the signals that are due, and completes the ends.
  private func signal(after pause: Duration = .milliseconds(1)) {
    let isEmpty = state.withLock { state in
      state.isDue = false
      return state.endings.isEmpty
    }
    if isEmpty { return }
    let processes = Dictionary(grouping: find(), by: \.unit)
    let now = ContinuousClock.now
    var signals: [(signal: Int32, process: Int32)] = []
    let (completions, isLast) = state.withLock { state in
      var completions: [(CheckedContinuation<[Int32], Never>, [Int32])] = []
      for (unit, var ending) in state.endings {
        let isRunning = ending.waiters.isEmpty
        let left = (processes[unit] ?? []).filter { !isRunning || !$0.isOfCommand }
          .map(\.process.process)
        if !isRunning, left.isEmpty || now > ending.killing + Self.killTime {
          completions += ending.waiters.map { ($0, left) }
          state.endings[unit] = nil
          continue
        }
        if now >= ending.killing {
          signals += left.map { (SystemSignal.kill, $0) }
        } else {
          for process in ending.processesToTell(of: processes[unit] ?? []) {
            signals += [(SystemSignal.terminate, process), (SystemSignal.continue, process)]
          }
        }
        state.endings[unit] = ending
      }
      let isLast = state.endings.isEmpty || state.isScheduled
      if !isLast { state.isScheduled = true }
      return (completions, isLast)
    }
    for (signal, process) in signals { try? SystemProcess.send(signal, to: process) }
    for (waiter, left) in completions { waiter.resume(returning: left) }
    if isLast { return }
    queue.asyncAfter(deadline: .now() + pause / .seconds(1)) { [self] in
      state.withLock { $0.isScheduled = false }
      signal(after: min(pause * 2, .milliseconds(50)))
    }
  }
}
