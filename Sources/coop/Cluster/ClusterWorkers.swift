import CompositeOperations
import CompositeOperationsFoundation
import Foundation

/// The worker processes of the demo.
final class ClusterWorkers: Sendable {
  struct Worker: Sendable {
    let number: Int
    fileprivate var process: RunningProcess?
    /// The machine and the process; nil until the worker has begun.
    var name: String?
    var killed: Date?

    var processIdentifier: Int32? { process?.processIdentifier }
  }

  private struct State: Sendable {
    var workers: [Worker] = []
    var error: (any Error)?
  }

  private let state = Lock(State())
  private let arguments: [String]

  /// - Parameter arguments: The arguments of `coop worker`.
  init(_ arguments: [String]) { self.arguments = arguments }

  var all: [Worker] { state.withLock { $0.workers } }

  /// - Throws: The error of a worker that has ended by itself.
  func check() throws { if let error = state.withLock({ $0.error }) { throw error } }

  /// Returns an operation that runs another worker until it ends or is cancelled.
  func next() -> some ComposableOperation<Void> {
    let number = state.withLock { state in
      state.workers.append(Worker(number: state.workers.count + 1))
      return state.workers.count
    }
    return SimpleOperation.withContext { [self] context in
      let lastError = Lock("")
      let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
      let process = ProcessOperation(program, arguments: ["worker"] + arguments)
        .accepting { _ in true }
        .sendingOutput(to: .kept(first: 0)).sendingErrorOutput(to: .kept(last: 0))
        .onLaunch { process in self.change(number) { $0.process = process } }
        .onOutputLine { line in
          // The first word of the first line is the name.
          self.change(number) { worker in
            if worker.name == nil {
              worker.name = line.split(separator: " ").first.map(String.init)
            }
          }
        }
        .onErrorLine { line in lastError.withLock { $0 = line } }
      do {
        let result = try await context.run(process)
        if all[number - 1].killed != nil { return }
        let line = lastError.withLock { $0 }
        let reason = line.isEmpty ? "" : ": \(line)"
        throw ClusterError("worker \(number) has ended by itself (\(result.status))\(reason)")
      } catch {
        if !Task.isCancelled { state.withLock { $0.error = $0.error ?? error } }
      }
    }.named("worker \(number)")
  }

  /// Kills workers with SIGKILL.
  func kill(_ numbers: ClosedRange<Int>) {
    for number in numbers {
      change(number) { $0.killed = Date() }
      all[number - 1].process?.send(.kill)
    }
  }

  /// Kills all workers, for an exit that does not wait for their end.
  func killAll() { for worker in all { worker.process?.send(.kill) } }

  private func change(_ number: Int, _ body: (inout Worker) -> Void) {
    state.withLock { body(&$0.workers[number - 1]) }
  }
}

/// A failure of the demo.
struct ClusterError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
