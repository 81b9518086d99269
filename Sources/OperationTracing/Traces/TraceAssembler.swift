package import CompositeOperations
package import SystemSupport

/// A builder of spans from events, in the order in which the events arrive. Its memory grows with
/// the number of unfinished runs.
package struct TraceAssembler: Sendable {
  package enum Step: Sendable {
    case nothing
    /// A run has ended.
    case ended(OperationTrace.Span)
    /// An event of a run that had already ended, or that was created before the recording began.
    case note(OperationTrace.Note, of: OperationID, below: OperationID, by: TraceLink?)
  }

  /// The instant from which times are measured.
  private let beginning: EventTime
  private var open: [OperationID: Open] = [:]
  private var lanes = TraceLanes()

  private struct Open: Sendable {
    var span: OperationTrace.Span
    var reason: String?
  }

  package init(from beginning: EventTime) { self.beginning = beginning }

  /// The unfinished runs, in the order of their creation.
  package var unfinished: [OperationTrace.Span] { open.values.map(\.span).sorted { $0.id < $1.id } }

  package mutating func observed(_ entry: TraceEntry) -> Step {
    let id = entry.place.id
    let time = Duration.nanoseconds(entry.time.nanoseconds - beginning.nanoseconds)
    switch entry.what {
    case .created:
      begin(entry, at: time)
      return .nothing
    case .started:
      open[id]?.span.started = time
      return .nothing
    case .waitingBegan(let wait):
      beginWait(for: wait, of: id, at: time)
      return .nothing
    case .waitingEnded(let wait):
      endWait(for: wait, of: id, at: time)
      return .nothing
    case .noted(let level, let text):
      return note(OperationTrace.Note(time: time, level: level, text: text), entry)
    case .attributesSet(let attributes):
      set(attributes, of: id)
      return .nothing
    case .askedToCancel(let reason):
      if let reason, open[id]?.reason == nil { open[id]?.reason = reason }
      let text = "asked to cancel" + (reason.map { " because \($0)" } ?? "")
      return note(OperationTrace.Note(time: time, level: nil, text: text), entry)
    case .ended(let end, let late): return self.end(id, at: time, end, late: late)
    }
  }

  private mutating func begin(_ entry: TraceEntry, at time: Duration) {
    let id = entry.place.id
    let parent = entry.place.parent.flatMap { open[$0.id]?.span }
    let lane = lanes.place(.run(id), at: time, below: parent.map { ($0.id, $0.lane) })
    let link = entry.place.link
    open[id] = Open(
      span: OperationTrace.Span(
        id: id, parent: entry.place.parent?.id, outermost: parent?.outermost ?? entry.outermost,
        link: link, isBelowLink: link != nil && parent?.link !== link, name: entry.place.name,
        attempt: entry.place.attempt, created: time, lane: lane))
  }

  private mutating func beginWait(
    for wait: OperationEvent.Wait, of id: OperationID, at time: Duration
  ) {
    guard let run = open[id].map({ (lane: $0.span.lane, waitCount: $0.span.waits.count) }),
      hasRoom(run.waitCount, in: id)
    else { return }
    let lane = lanes.place(.wait(id, run.waitCount), at: time, below: (id, run.lane))
    open[id]?.span.waits.append(OperationTrace.Wait(kind: wait, began: time, lane: lane))
  }

  private mutating func endWait(
    for wait: OperationEvent.Wait, of id: OperationID, at time: Duration
  ) {
    guard
      let index = open[id]?.span.waits.lastIndex(where: { $0.kind == wait && $0.ended == nil })
    else { return }
    endWait(index, of: id, at: time)
  }

  private mutating func endWait(_ index: Int, of id: OperationID, at time: Duration) {
    guard let lane = open[id]?.span.waits[index].lane else { return }
    let ended = leave(.wait(id, index), lane: lane, at: time)
    open[id]?.span.waits[index].ended = ended
  }

  /// - Returns: When the occupant left.
  private mutating func leave(
    _ occupant: TraceLanes.Occupant, lane: Int, at time: Duration
  ) -> Duration {
    let departure = lanes.leave(occupant, lane: lane, at: time)
    for moved in departure.moved {
      switch moved {
      case .run(let id): open[id]?.span.lane = departure.lane
      case .wait(let id, let index): open[id]?.span.waits[index].lane = departure.lane
      }
    }
    return departure.time
  }

  /// Sets attributes of a run. Those of a run that has ended come from an abandoned body, and its
  /// span has already been written.
  private mutating func set(_ attributes: [String: OperationAttribute], of id: OperationID) {
    for (name, value) in attributes.sortedByName {
      guard let span = open[id]?.span else { return }
      if span.attributes[name] == nil,
        span.attributes.count >= OperationTrace.Span.mostAttributes
      {
        open[id]?.span.droppedCount += 1
      } else {
        open[id]?.span.attributes[name] = value
      }
    }
  }

  private mutating func note(_ note: OperationTrace.Note, _ entry: TraceEntry) -> Step {
    guard open[entry.place.id] != nil else {
      return .note(note, of: entry.place.id, below: entry.outermost, by: entry.place.link)
    }
    if let count = open[entry.place.id]?.span.notes.count, hasRoom(count, in: entry.place.id) {
      open[entry.place.id]?.span.notes.append(note)
    }
    return .nothing
  }

  /// Returns whether a run may have one more wait or note. If not, counts a dropped one.
  private mutating func hasRoom(_ count: Int, in id: OperationID) -> Bool {
    if count < OperationTrace.Span.mostDetails { return true }
    open[id]?.span.droppedCount += 1
    return false
  }

  private mutating func end(
    _ id: OperationID, at time: Duration, _ end: OperationTrace.End, late: String?
  ) -> Step {
    guard let span = open[id]?.span else { return .nothing }
    // Waits without an end of their own end with their run.
    for index in span.waits.indices where span.waits[index].ended == nil {
      endWait(index, of: id, at: time)
    }
    let time = leave(.run(id), lane: span.lane, at: time)
    guard var ended = open.removeValue(forKey: id) else { return .nothing }
    if let late {
      ended.span.notes.append(
        OperationTrace.Note(time: time, level: nil, text: "came too late: \(late)"))
    }
    ended.span.ended = time
    ended.span.end = end
    ended.span.whole = ended.span.link?.completed
    if case .cancelled(nil) = end { ended.span.end = .cancelled(reason: ended.reason) }
    return .ended(ended.span)
  }
}
