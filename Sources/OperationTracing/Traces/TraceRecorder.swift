public import CompositeOperations

/// An observer that records runs and their events, for analysis and export.
///
/// ```swift
/// let recorder = TraceRecorder()
/// _ = await sync.observed(by: recorder).run()
/// print(recorder.trace.text)
/// ```
///
/// The recorder stores no results. It needs 24 bytes for each event, and about 100 bytes in
/// addition for each run. For flows with millions of runs, use a ``TraceFile``, which writes runs
/// as they end.
public final class TraceRecorder: OperationObserver {
  private let beginning = TraceBeginning()
  // A busy lock, because many threads record concurrently.
  private let entries: BusyLock<TraceEntries>

  /// Creates a recorder.
  ///
  /// - Parameter count: The maximum number of events; later events are counted as dropped.
  /// - Precondition: `count` is not negative.
  public init(keeping count: Int = 10_000_000) {
    precondition(count >= 0, "`count` must not be negative (was \(count))")
    entries = BusyLock(TraceEntries(capacity: count))
  }

  public func observe(_ event: OperationEvent) {
    if let step = event.step {
      if step == .childStarted { return }
      entries.withLock { $0.append(step, of: event) }
    } else if let entry = TraceEntry(event) {
      entries.withLock { $0.append(entry) }
    }
  }

  /// The runs recorded so far. Unfinished runs have no end.
  ///
  /// - Complexity: O(*n*) in the number of events.
  public var trace: OperationTrace {
    let entries = entries.withLock { $0 }
    return OperationTrace(entries, from: beginning)
  }
}

extension OperationTrace {
  init(_ entries: TraceEntries, from beginning: TraceBeginning) {
    var assembler = TraceAssembler(from: beginning.time)
    var spans: [Span] = []
    var later: [OperationID: [Note]] = [:]
    entries.replay { entry in
      switch assembler.observed(entry) {
      case .nothing: break
      case .ended(let span): spans.append(span)
      case .note(let note, let id, _, _): later[id, default: []].append(note)
      }
    }
    spans += assembler.unfinished
    spans.sort { $0.id < $1.id }
    if !later.isEmpty {
      for index in spans.indices { spans[index].notes += later[spans[index].id] ?? [] }
    }
    self.init(
      beginning: beginning.wallClock, seed: beginning.seed, spans: spans,
      droppedCount: entries.droppedCount)
  }
}
