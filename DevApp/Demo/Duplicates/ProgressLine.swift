import Dispatch

/// Shows a meter's reading on the last line of a terminal, ten times a second.
final class ProgressLine {
  private let terminal: StandardError
  private let timer: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "progress")

  /// - Returns: Nil where standard error is no terminal.
  init?(_ meter: ProgressMeter, on terminal: StandardError) {
    guard terminal.isTerminal else { return nil }
    self.terminal = terminal
    timer = DispatchSource.makeTimerSource(queue: queue)
    let pace = Pace()
    timer.setEventHandler {
      let reading = meter.reading
      terminal.replaceLine(with: reading.text(after: pace.seconds(in: reading.stage)))
    }
    timer.schedule(deadline: .now() + 0.1, repeating: 0.1)
    timer.activate()
  }

  /// Takes the line away.
  func end() {
    timer.cancel()
    // Behind the handler, should it be running.
    queue.sync { terminal.replaceLine(with: "") }
  }

  /// How long a stage has taken. Reached on the queue of the timer alone.
  private final class Pace {
    private var stage = ProgressMeter.Stage.starting
    private var start = ContinuousClock.now

    func seconds(in stage: ProgressMeter.Stage) -> Double {
      if stage != self.stage {
        self.stage = stage
        start = .now
      }
      return (ContinuousClock.now - start) / .seconds(1)
    }
  }
}

extension ProgressMeter.Reading {
  /// The stage, how far it is, and its rate: `comparing: 12 of 40 files, 1.2 GB, 600 MB/s`.
  func text(after seconds: Double) -> String {
    let count =
      allFiles.map { "\(files.grouped) of \($0.grouped) files" } ?? "\(files.grouped) files"
    var parts = bytes > 0 ? [count, bytes.asBytes] : [count]
    // A rate of less than two tenths of a second says nothing.
    if seconds >= 0.2 {
      func rate(of amount: Int) -> Int { Int(Double(amount) / seconds) }
      parts.append(
        bytes > 0 ? "\(rate(of: bytes).asBytes)/s" : "\(rate(of: files).grouped) files/s")
    }
    return "\(stage.title): " + parts.joined(separator: ", ")
  }
}
