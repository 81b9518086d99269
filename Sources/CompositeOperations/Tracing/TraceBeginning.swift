/// When a trace begins, by both clocks, and what tells it from others.
package struct TraceBeginning: Sendable {
  package let time = EventTime.now
  /// In nanoseconds since the beginning of 1970, UTC.
  package let wallClock = EventTime.wallClockNow
  /// What the identities of the trace are made of.
  package let seed = TraceSeed.random()

  package init() {}

  /// The time that has passed since.
  package var elapsed: Duration { .nanoseconds(EventTime.now.nanoseconds - time.nanoseconds) }
}
