import CompositeOperationsFoundation
import Synchronization

/// The commands that were started, for an exit that does not wait for their end.
final class RunningCommands: Sendable {
  private let processes = Mutex<[RunningProcess]>([])

  func add(_ process: RunningProcess) { processes.withLock { $0.append(process) } }

  /// Kills the commands that are still running.
  func kill() { for process in processes.withLock({ $0 }) { process.send(.kill) } }
}
