internal import CompositeOperations

/// The span of a durable run, as its store keeps it for all processes that run a part of the run.
///
/// A run whose start belongs to another run continues the trace of that run. Otherwise the start
/// begins a trace.
package struct RunTrace: Hashable, Sendable {
  /// The span of the run from its start to its end.
  private let span: TraceParent
  /// The span of the run that started it; nil for the root of the trace.
  private let parent: TraceParent.SpanID?

  /// The trace of the run that the current task performs; nil if it performs none.
  @TaskLocal package static var current: RunTrace?

  /// Creates the trace of a new run.
  ///
  /// - Parameter trace: The trace of the run that starts it, or that is its earlier attempt.
  package init(below trace: RunTrace?) {
    span = trace?.span.withNewSpan() ?? TraceParent()
    parent = trace?.span.spanID
  }

  /// Parses the texts that a store keeps.
  ///
  /// - Returns: Nil if the first text is no valid `traceparent`, as of a run that an earlier
  ///   version has started.
  package init?(traceParent: String?, parentSpanID: String?) {
    guard let span = traceParent.flatMap({ TraceParent($0) }) else { return nil }
    self.span = span
    parent = parentSpanID.flatMap { TraceParent.SpanID($0) }
  }

  /// The text of the header `traceparent`, which names the span of the run. A program that reads it
  /// can make its own spans children of that span.
  package var traceParent: String { span.text }

  /// The identifier of the span of the run that started it; nil for the root of the trace.
  package var parentSpanID: String? { parent?.text }

  /// The link of the operations of the run.
  var link: TraceLink { TraceLink(below: span) }

  /// The link of one claim of the run.
  ///
  /// - Parameter began: When the run was started, in milliseconds since the beginning of 1970, UTC.
  func claimLink(began: Int64) -> TraceLink {
    TraceLink(partOf: span, whole: TraceLink.Whole(below: parent, began: began))
  }
}
