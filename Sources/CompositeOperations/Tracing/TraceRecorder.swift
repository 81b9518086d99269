/// Keeps what ran, for a picture of it afterwards.
///
/// ```swift
/// let recorder = TraceRecorder()
/// _ = await sync.observed(by: recorder).run()
/// print(recorder.trace.text)
/// ```
///
/// It keeps every event, but no results; of flows with millions of runs a ``TraceFile`` makes a file of them as
/// they come.
public final class TraceRecorder: OperationObserver {
  private struct State: Sendable {
    var events: [OperationEvent] = []
    var droppedCount = 0
  }

  private let capacity: Int
  private let beginning = TraceBeginning()
  private let state = Lock(State())

  /// - Parameter count: How many events are kept at most; what comes behind them is counted as dropped.
  /// - Precondition: `count` is not negative.
  public init(keeping count: Int = 4_000_000) {
    precondition(count >= 0, "At least 0 events are kept, and not \(count).")
    capacity = count
  }

  public func observe(_ event: OperationEvent) {
    state.withLock { state in
      if state.events.count < capacity {
        state.events.append(event)
      } else {
        state.droppedCount += 1
      }
    }
  }

  /// What has run so far. What goes on has no end yet.
  ///
  /// - Complexity: O(*n*) in the number of events.
  public var trace: OperationTrace {
    let state = state.withLock { $0 }
    return OperationTrace(
      state.events, from: beginning, droppedCount: state.droppedCount)
  }
}

/// When a trace begins, by both clocks.
struct TraceBeginning: Sendable {
  let time = EventTime.now
  let wallClock = EventTime.wallClockNow
}

extension OperationTrace {
  init(_ events: [OperationEvent], from beginning: TraceBeginning, droppedCount: Int) {
    var assembler = TraceAssembler(from: beginning.time)
    var spans: [Span] = []
    var later: [OperationID: [Note]] = [:]
    for event in events {
      switch assembler.observed(event) {
      case .nothing: break
      case .ended(let span): spans.append(span)
      case .note(let note, let id): later[id, default: []].append(note)
      }
    }
    spans += assembler.unfinished
    spans.sort { $0.id < $1.id }
    if !later.isEmpty {
      for index in spans.indices { spans[index].notes += later[spans[index].id] ?? [] }
    }
    self.init(beginning: beginning.wallClock, spans: spans, droppedCount: droppedCount)
  }
}
