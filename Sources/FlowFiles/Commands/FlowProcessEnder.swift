import CompositeOperations
import Dispatch
import SystemSupport

/// Ends the processes of units: by SIGTERM, and after a grace period by SIGKILL. All units share one
/// look at the processes of the system.
final class FlowProcessEnder: Sendable {
  private struct Ending {
    let killing: ContinuousClock.Instant
    /// The processes that have received SIGTERM.
    var told: Set<Int32> = []
    var waiters: [CheckedContinuation<[Int32], Never>] = []
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
    state.withLock { $0.endings.removeValue(forKey: unit)?.told.isEmpty ?? true }
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
      if let waiter { ending.waiters.append(waiter) }
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
        for process in left {
          if now >= ending.killing {
            signals.append((SystemSignal.kill, process))
          } else if ending.told.insert(process).inserted {
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
