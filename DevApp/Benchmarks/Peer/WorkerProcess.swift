import Foundation
import Synchronization

/// A process of the benchmarks, which answers with lines.
final class WorkerProcess: Sendable {
  private let process: Mutex<ChildProcess>

  /// - Parameters:
  ///   - command: The command of this program that the process runs.
  ///   - arguments: The arguments of the command.
  init(_ arguments: [String] = [], running command: String = DurableProcess.command) throws {
    guard let program = Bundle.main.executablePath else {
      throw BenchmarkError("the path of this program is unknown")
    }
    process = Mutex(
      try ChildProcess(
        path: program, arguments: [command] + arguments,
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
