internal import Synchronization

/// A link from the runs of this process to a span that other processes know, such as the span of a
/// durable run.
///
/// The runs in an environment with a link belong to the trace of that span, and the outermost of
/// them are its children. Identifiers that an observer computes for itself would not be known to
/// other processes.
package final class TraceLink: Sendable {
  /// The span, in its trace.
  package let span: TraceParent
  /// The span that a run becomes when it completes the link; nil for a link that no run completes.
  private let whole: Whole?
  private let isComplete = Atomic(false)

  /// A durable run from its start to its end, on all machines.
  package struct Whole: Sendable {
    /// The parent of the span; nil for the root of the trace.
    package let parent: TraceParent.SpanID?
    /// Milliseconds since the beginning of 1970, UTC.
    package let began: Int64

    package init(below parent: TraceParent.SpanID?, began: Int64) {
      self.parent = parent
      self.began = began
    }
  }

  /// Creates a link of runs that are parts of a span.
  package init(below span: TraceParent) {
    self.span = span
    whole = nil
  }

  /// Creates a link of one run that is a part of a span, or the whole of it.
  package init(partOf span: TraceParent, whole: Whole) {
    self.span = span
    self.whole = whole
  }

  /// Makes the run of this link represent the whole span, instead of a part of it.
  ///
  /// Call it before the run ends, and in one process only: identifiers of spans are unique.
  package func complete() { isComplete.store(true, ordering: .releasing) }

  /// The whole span; nil if the link is not complete.
  package var completed: Whole? { isComplete.load(ordering: .acquiring) ? whole : nil }
}
