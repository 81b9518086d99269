public import CompositeOperations

extension OperationTrace.Summary {
  /// A part of the time of one run.
  public struct Stretch: Sendable, Identifiable {
    /// The identifier of the run, which may have several stretches.
    public let id: OperationID
    /// The name of its operation.
    public let name: String
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// When the stretch begins.
    public let began: Duration
    /// When the stretch ends.
    public let ended: Duration
    /// How long within the stretch the run was waiting or had not started.
    public let waited: Duration
    /// The index of the run in the trace.
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

    /// The length of the stretch.
    public var duration: Duration { ended - began }
  }
}
