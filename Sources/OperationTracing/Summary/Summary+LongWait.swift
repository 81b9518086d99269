public import CompositeOperations

extension OperationTrace.Summary {
  /// A long wait of a run.
  public struct LongWait: Sendable, Identifiable {
    /// The identifier of the run, which may have several waits.
    public let id: OperationID
    /// The name of its operation.
    public let name: String
    /// The kind of the wait; nil if the run waited only for a free processor to start.
    public let kind: OperationEvent.Wait?
    /// When the wait began.
    public let began: Duration
    /// When the wait ended. If it had not ended, the end of the run or of the trace.
    public let ended: Duration
    /// The index of the run in the trace.
    let place: Int

    /// The length of the wait.
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
