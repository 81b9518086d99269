/// Makes spans of events, in the order in which these come. What it keeps grows with the runs that have
/// not ended.
struct TraceAssembler: Sendable {
  enum Step: Sendable {
    case nothing
    /// A run has ended.
    case ended(OperationTrace.Span)
    /// Something happened to a run that had ended, or that had begun before anybody looked.
    case note(OperationTrace.Note, of: OperationID)
  }

  /// The moment from which times count.
  private let beginning: EventTime
  private var open: [OperationID: Open] = [:]
  private var lanes = TraceLanes()

  private struct Open: Sendable {
    var span: OperationTrace.Span
    var reason: String?
  }

  init(from beginning: EventTime) { self.beginning = beginning }

  /// The runs that have not ended, in the order of their creation.
  var unfinished: [OperationTrace.Span] { open.values.map(\.span).sorted { $0.id < $1.id } }

  mutating func observed(_ event: OperationEvent) -> Step {
    let time = Duration.nanoseconds(event.time.nanoseconds - beginning.nanoseconds)
    switch event.kind {
    case .created:
      begin(event, at: time)
      return .nothing
    case .childStarted, .progressed, .childrenExpected: return .nothing
    case .started:
      open[event.id]?.span.started = time
      return .nothing
    case .waitingBegan(let wait):
      open[event.id]?.span.waits.append(OperationTrace.Wait(kind: wait, began: time))
      return .nothing
    case .waitingEnded(let wait):
      endWait(for: wait, of: event.id, at: time)
      return .nothing
    case .retryScheduled(let attempt, let delay, let error):
      return note(
        "attempt \(attempt) after \(delay), because of: \(error)", at: time, of: event.id)
    case .cancellationRequested(let reason):
      if open[event.id]?.reason == nil { open[event.id]?.reason = reason }
      return note(
        "asked to cancel" + (reason.map { " because \($0)" } ?? ""), at: time, of: event.id)
    case .logged(let level, let text): return note(text, at: time, level: level, of: event.id)
    case .finishedAgain(let outcome):
      return note("finished again: \(outcome.kind)", at: time, of: event.id)
    case .abandonedBodyEnded(let outcome):
      return note("left a body behind that ended: \(outcome.kind)", at: time, of: event.id)
    case .ended(let outcome, let late): return end(event.id, at: time, outcome, late: late)
    }
  }

  private mutating func begin(_ event: OperationEvent, at time: Duration) {
    let parent = event.parent.flatMap { open[$0]?.span }
    let lane = lanes.place(event.id, below: parent.map { ($0.id, $0.lane) })
    open[event.id] = Open(
      span: OperationTrace.Span(
        id: event.id, parent: event.parent, name: event.name, attempt: event.attempt,
        created: time, lane: lane))
  }

  private mutating func endWait(
    for wait: OperationEvent.Wait, of id: OperationID, at time: Duration
  ) {
    guard
      let index = open[id]?.span.waits.lastIndex(where: { $0.kind == wait && $0.ended == nil })
    else { return }
    open[id]?.span.waits[index].ended = time
  }

  private mutating func note(
    _ text: String, at time: Duration, level: OperationLogLevel? = nil, of id: OperationID
  ) -> Step {
    let note = OperationTrace.Note(time: time, level: level, text: text)
    guard open[id] != nil else { return .note(note, of: id) }
    open[id]?.span.notes.append(note)
    return .nothing
  }

  private mutating func end(
    _ id: OperationID, at time: Duration, _ outcome: Outcome<any Sendable>,
    late: Outcome<any Sendable>?
  ) -> Step {
    guard var ended = open.removeValue(forKey: id) else { return .nothing }
    lanes.leave(id, lane: ended.span.lane)
    if let late {
      let what = late.error.map { "\($0)" } ?? late.kind
      ended.span.notes.append(
        OperationTrace.Note(time: time, level: nil, text: "came too late: \(what)"))
    }
    ended.span.ended = time
    ended.span.end =
      switch outcome {
      case .result: .result
      case .error(let error): .error("\(error)")
      case .cancelled: .cancelled(reason: ended.reason)
      }
    return .ended(ended.span)
  }
}

extension Outcome {
  /// What it is, without what is in it.
  fileprivate var kind: String {
    switch self {
    case .result: "a result"
    case .error(let error): "an error, \(error)"
    case .cancelled: "a cancellation"
    }
  }
}
