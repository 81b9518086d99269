package import CompositeOperations

extension OperationContext {
  /// The identifiers that the span of this run has in exported traces, for requests to other
  /// programs; nil if the run is not observed.
  ///
  /// - Complexity: O(*depth*).
  package var traceParent: TraceParent? {
    guard let place = observedPlace else { return nil }
    var outermost = place
    while let parent = outermost.parent { outermost = parent }
    let seed = TraceSeed.process
    let traceID = place.link?.span.traceID ?? seed.traceID(of: outermost.id)
    return TraceParent("00-\(traceID)-\(seed.spanID(of: place.id))-01")
  }
}
