internal import CompositeOperations

/// A record of the events of the operations of a timeline test, with their ticks.
final class TimelineRecorder: Sendable {
  /// An event of a run.
  enum Happening: Sendable {
    case began
    case asked
    case ended(TimelineMark)
  }

  private struct Entry: Sendable {
    let tick: Int
    let operation: Int
    let run: Int
    let happening: Happening
  }

  private struct State: Sendable {
    var tick = 0
    var lastRun = 0
    var entries: [Entry] = []
    var exhaustion: ScriptExhaustedError?

    mutating func note(_ happening: Happening, of run: Int, of operation: Int) {
      entries.append(Entry(tick: tick, operation: operation, run: run, happening: happening))
    }
  }

  private let state = Lock(State())

  /// The current tick.
  var tick: Int { state.withLock { $0.tick } }

  /// The error of the first run that is not scripted.
  var exhaustion: ScriptExhaustedError? { state.withLock { $0.exhaustion } }

  func ticked(_ tick: Int) { state.withLock { $0.tick = tick } }

  /// - Returns: The number of the run.
  func began(_ operation: Int) -> Int {
    state.withLock { state in
      state.lastRun += 1
      state.note(.began, of: state.lastRun, of: operation)
      return state.lastRun
    }
  }

  func happened(_ happening: Happening, to run: Int, of operation: Int) {
    state.withLock { $0.note(happening, of: run, of: operation) }
  }

  func exhausted(_ error: ScriptExhaustedError) {
    state.withLock { $0.exhaustion = $0.exhaustion ?? error }
  }

  /// Returns the timeline of an operation so far.
  func timeline(of operation: Int) -> Timeline {
    let (entries, lastTick) = state.withLock { state in
      (state.entries.filter { $0.operation == operation }, state.tick)
    }
    var running: Set<Int> = []
    var ticks: [[TimelineMark]] = []
    var rest = entries[...]
    for tick in 0...lastTick where !rest.isEmpty || !running.isEmpty {
      let now = rest.prefix { $0.tick == tick }
      rest = rest.dropFirst(now.count)
      var marks: [(run: Int, mark: TimelineMark)] = []
      for entry in now {
        switch entry.happening {
        case .began: running.insert(entry.run)
        case .asked: marks.append((entry.run, .asked))
        case .ended(let mark):
          running.remove(entry.run)
          // The end of a run implies that it was asked to cancel at the same tick.
          marks.removeAll { $0.run == entry.run }
          marks.append((entry.run, mark))
        }
      }
      ticks.append(
        marks.isEmpty ? [running.isEmpty ? .absent : .passes] : marks.map(\.mark))
    }
    return Timeline(ticks: ticks)
  }
}
