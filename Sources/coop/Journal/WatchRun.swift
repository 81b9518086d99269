import CommandLineOperations
import CompositeOperations
import DurableOperations
import RunPage
import SystemSupport

/// An operation that shows a run once a second until it ends: on a terminal with its steps, and
/// otherwise as a line for each change.
struct WatchRun: ComposableOperation {
  let id: RunID
  let store: RunStore
  let output: StandardError

  func perform(in context: OperationContext) async throws {
    let screen = Screen()
    defer { screen.show([], on: output) }
    var last = ""
    while let run = try await store.run(id) {
      if run.summary.state.hasEnded { return }
      let page = RunText(run)
      if output.isTerminal {
        let size = output.size
        screen.show(page.lines(in: size.columns - 1, rows: size.rows - 2), on: output)
      } else {
        let line = run.summary.progressLine
        if line != last { output.writeLine(line) }
        last = line
      }
      try await Task.sleep(for: .seconds(1))
    }
  }
}

extension RunSummary {
  fileprivate var progressLine: String {
    "\(RawPath(id.text))  \(step.counted("finished step"))  \(stateText)"
  }
}
