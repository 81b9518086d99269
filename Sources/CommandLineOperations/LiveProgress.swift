import CompositeOperations
import Dispatch

/// A progress display on standard error. On a terminal it has one line per running operation,
/// updated in place ten times a second. Otherwise it prints a line every five seconds.
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
      if screen.isPaused { return }
      let page = ProgressPage(observer.branches, at: .now)
      if output.isTerminal {
        screen.show(page.lines(in: output.size), on: output)
      } else if let line = page.summary {
        output.writeLine(line)
      }
    }
    let interval = output.isTerminal ? 0.1 : 5
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.activate()
  }

  /// Removes the lines until they are shown again.
  var pause: @Sendable (Bool) -> Void {
    { [queue, screen, output] isPausing in
      queue.sync {
        screen.isPaused = isPausing
        if isPausing { screen.show([], on: output) }
      }
    }
  }

  /// Removes the lines.
  func end() {
    timer.cancel()
    // After the handler, in case it is running.
    queue.sync { screen.show([], on: output) }
  }
}
