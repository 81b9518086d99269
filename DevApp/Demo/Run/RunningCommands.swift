import CompositeOperationsFoundation
import Synchronization

/// The commands that were begun, for whoever cannot wait for their end.
final class RunningCommands: Sendable {
  private let processes = Mutex<[RunningProcess]>([])

  func add(_ process: RunningProcess) { processes.withLock { $0.append(process) } }

  /// Ends what still runs by force.
  func kill() { for process in processes.withLock({ $0 }) { process.send(.kill) } }
}
