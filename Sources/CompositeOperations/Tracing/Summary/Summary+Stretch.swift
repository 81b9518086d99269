extension OperationTrace.Summary {
  /// A part of the time of one run.
  public struct Stretch: Sendable, Identifiable {
    /// The run. It may have several stretches.
    public let id: OperationID
    /// The name of its operation.
    public let name: String
    /// The number of the attempt that it is, from 1.
    public let attempt: Int
    public let began: Duration
    public let ended: Duration
    /// How much of it the run had not started yet or waited.
    public let waited: Duration
    /// The place of the run in the trace.
    let place: Int

    init(of place: Int, _ span: OperationTrace.Span, _ time: Range<Int64>, _ tree: TraceTree) {
      id = span.id
      name = span.name
      attempt = span.attempt
      began = .nanoseconds(time.lowerBound)
      ended = .nanoseconds(time.upperBound)
      waited = .nanoseconds(
        time.upperBound - time.lowerBound - tree.runningTime(of: place, within: time))
      self.place = place
    }

    /// The time from its beginning to its end.
    public var duration: Duration { ended - began }
  }
}
