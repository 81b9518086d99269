import CommandLineOperations
import CompositeOperations
import DurableOperations
import Foundation
import SystemSupport

/// An operation that runs a flow on worker processes, and kills two of them in the middle.
struct RunCluster: ComposableOperation {
  static let killed = 1...2

  let flow: ClusterSum
  let id: RunID
  let store: RunStore
  let workers: ClusterWorkers
  let output: StandardError
  /// The command that shows the runs on a page.
  let page: String

  /// - Returns: The sum, and the child flows at the end.
  func perform(in context: OperationContext) async throws -> (sum: Int, ClusterSnapshot) {
    try await withThrowingDiscardingTaskGroup { group in
      // Ends the workers. The group waits for that.
      defer { group.cancelAll() }
      func startWorkers(_ count: Int) {
        for _ in 0..<count {
          let worker = workers.next()
          group.addTask { _ = await context.outcome(of: worker) }
        }
      }
      startWorkers(3)
      let view = ClusterView(on: output)
      defer { view.end() }
      view.tell("started 3 workers")
      let run = try await store.start(flow, named: id)
      view.tell("started run \(id) with \(flow.count.counted("child flow"))")
      view.tell("to see them in a browser: \(page)")
      var areKilled = false
      while true {
        try workers.check()
        let snapshot = try await ClusterSnapshot(of: id, count: flow.count, in: store)
        view.show(snapshot, workers.all)
        if !areKilled, snapshot.ended * 3 >= flow.count {
          workers.kill(Self.killed)
          areKilled = true
          view.tell("killed workers 1 and 2 with SIGKILL; started 2 others")
          startWorkers(2)
        }
        if try await store.summary(of: id)?.state.hasEnded == true {
          let outcome = try await run.outcome.get()
          return (outcome, snapshot)
        }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }
}

/// The live view: lines that are redrawn in place on a terminal, otherwise a line every 2 seconds.
private final class ClusterView {
  private let output: StandardError
  private let screen = Screen()
  private let start = ContinuousClock.now
  private var last: ContinuousClock.Instant?

  init(on output: StandardError) { self.output = output }

  /// Prints a line that stays.
  func tell(_ line: String) {
    end()
    output.writeLine(line)
  }

  func show(_ snapshot: ClusterSnapshot, _ workers: [ClusterWorkers.Worker]) {
    let now = ContinuousClock.now
    if output.isTerminal {
      let width = output.size.columns - 1
      screen.show(snapshot.lines(of: workers, after: now - start, in: width), on: output)
    } else if last.map({ now - $0 >= .seconds(2) }) ?? true {
      last = now
      output.writeLine("\(snapshot.ended) of \(snapshot.count.counted("child flow")) ended")
    }
  }

  /// Removes the lines that are redrawn.
  func end() { screen.show([], on: output) }
}
