import CompositeOperations
import Dispatch

/// A progress display on standard error. On a terminal it has one line per running operation,
/// updated in place ten times a second. Otherwise it prints a line every two seconds.
final class LiveProgress {
  /// The observer of the flow.
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

  /// Removes the lines.
  func end() {
    timer.cancel()
    // After the handler, in case it is running.
    queue.sync { screen.show([], on: output) }
  }
}

/// The lines on the terminal.
// Sendable, because it is used only on the queue of the progress display.
private final class Screen: @unchecked Sendable {
  /// The widths of the lines on the terminal.
  private var widths: [Int] = []

  /// Replaces the lines in one write, so that they do not flicker.
  func show(_ lines: [String], on output: StandardError) {
    if lines.isEmpty, widths.isEmpty { return }
    // A terminal that has become narrower has wrapped the lines.
    let columns = max(1, output.size.columns)
    let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    let back = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
    // Line by line: some terminals save text that is cleared as a whole for scrolling back.
    output.write(back + lines.map { "\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J")
    widths = lines.map(\.count)
  }
}
