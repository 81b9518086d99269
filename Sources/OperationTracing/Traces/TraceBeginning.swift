package import SystemSupport

/// The start of a trace by both clocks, and the seed of its identifiers.
package struct TraceBeginning: Sendable {
  package let time = EventTime.now
  /// Nanoseconds since 1970-01-01, UTC.
  package let wallClock = EventTime.wallClockNow
  /// The seed of the identifiers of the trace.
  package let seed = TraceSeed.process

  package init() {}

  /// The time since the start of the trace.
  package var elapsed: Duration { .nanoseconds(EventTime.now.nanoseconds - time.nanoseconds) }
}
