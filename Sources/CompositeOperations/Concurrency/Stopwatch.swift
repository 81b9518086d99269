/// The time on a clock since the stopwatch was created.
@usableFromInline struct Stopwatch: Sendable {
  private let read: @Sendable () -> Duration

  @usableFromInline init(_ clock: some Clock<Duration>) {
    let start = clock.now
    read = { start.duration(to: clock.now) }
  }

  var elapsed: Duration { read() }
}
