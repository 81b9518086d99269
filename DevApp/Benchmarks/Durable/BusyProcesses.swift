/// Processes that compute, while they are not paused.
final class BusyProcesses: Sendable {
  private let processes: [WorkerProcess]

  init(count: Int) throws {
    processes = try (0..<count).map { _ in try WorkerProcess(["busy"]) }
    for process in processes { _ = try process.read() }
    pause()
  }

  func pause() { for process in processes { process.pause() } }
  func resume() { for process in processes { process.resume() } }
}
