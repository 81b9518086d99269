extension OperationTrace.Summary {
  /// A time that a run waited.
  public struct LongWait: Sendable, Identifiable {
    /// The run. It may have waited several times.
    public let id: OperationID
    /// The name of its operation.
    public let name: String
    /// What it waited for; nil for its start alone, because everybody who could have run it was busy.
    public let kind: OperationEvent.Wait?
    public let began: Duration
    /// When the wait was over; of one that went on, when the run ended or the trace did.
    public let ended: Duration
    /// The place of the run in the trace.
    let place: Int

    /// The time from its beginning to its end.
    public var duration: Duration { ended - began }

    static func all(of span: OperationTrace.Span, at place: Int, endedBy end: Int64) -> [LongWait] {
      let end = Duration.nanoseconds(end)
      var waits = span.waits.map { wait in
        LongWait(
          id: span.id, name: span.name, kind: wait.kind, began: wait.began,
          ended: wait.ended ?? end,
          place: place)
      }
      let start = span.started ?? end
      if start > span.created, waits.first.map({ $0.began >= start }) ?? true {
        waits.append(
          LongWait(
            id: span.id, name: span.name, kind: nil, began: span.created, ended: start,
            place: place))
      }
      return waits
    }
  }
}
