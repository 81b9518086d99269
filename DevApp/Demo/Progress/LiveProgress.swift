import CompositeOperations
import Dispatch

/// Shows on standard error how far a flow is: on a terminal a line for everything that runs, ten times a second
/// in place; elsewhere a plain line every two seconds.
final class LiveProgress {
  /// What the flow has to be observed by.
  let observer = ProgressObserver()

  private let output: StandardError
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "progress")
  private let screen = Screen()

  init(on output: StandardError) {
    self.output = output
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [observer, output, screen] in
      let page = ProgressPage(observer.branches, at: .now)
      if output.isTerminal {
        screen.show(page.lines(in: output.size), on: output)
      } else if let line = page.summary {
        output.writeLine(line)
      }
    }
    let interval = output.isTerminal ? 0.1 : 2
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.activate()
  }

  /// Takes the lines away.
  func end() {
    timer.cancel()
    // Behind the handler, should it be running.
    queue.sync { screen.show([], on: output) }
  }
}

/// What stands on the terminal.
// Sendable, because it is reached on the queue of the progress alone.
private final class Screen: @unchecked Sendable {
  /// How wide each line is that stands there.
  private var widths: [Int] = []

  /// Draws over what stands there, in one piece so that it does not flicker.
  func show(_ lines: [String], on output: StandardError) {
    if lines.isEmpty, widths.isEmpty { return }
    // A terminal that became narrower since has broken the lines.
    let columns = max(1, output.size.columns)
    let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    let back = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
    // Line by line: some terminals keep what they clear as a whole for scrolling back.
    output.write(back + lines.map { "\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J")
    widths = lines.map(\.count)
  }
}
