import Foundation
import Synchronization

/// A process of the benchmarks of durable flows, which answers with lines of numbers.
final class WorkerProcess: Sendable {
  private let process: Mutex<ChildProcess>

  /// - Parameter arguments: The role and its arguments; see ``DurableProcess``.
  init(_ arguments: [String]) throws {
    guard let program = Bundle.main.executablePath else {
      throw BenchmarkError("the path of this program is unknown")
    }
    process = Mutex(
      try ChildProcess(
        path: program, arguments: ["durable-process"] + arguments,
        environment: ProcessInfo.processInfo.environment))
  }

  deinit { process.withLock { _ = $0.end() } }

  func pause() { process.withLock { $0.stop() } }
  func resume() { process.withLock { $0.resume() } }
  func kill() { process.withLock { $0.kill() } }

  func read(withinSeconds seconds: Int = 60) throws -> String {
    try process.withLock { process in
      do { return try process.channel.read(within: seconds) } catch {
        throw BenchmarkError("a process of the benchmark has not answered: \(error)")
      }
    }
  }

  /// - Throws: A ``BenchmarkError`` if the line has another number of numbers.
  func readNumbers(_ count: Int, withinSeconds seconds: Int = 60) throws -> [Double] {
    let line = try read(withinSeconds: seconds)
    let numbers = line.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == count else {
      throw BenchmarkError("a process of the benchmark has answered '\(line)'")
    }
    return numbers
  }

  func write(_ line: String) throws { try process.withLock { try $0.channel.write(line) } }
}

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
