extension Clock {
  /// Sleeps until the clock has reached an instant.
  ///
  /// A clock may wake a sleeper early, because it is coarse or wrong. The sleep is then repeated.
  ///
  /// - Throws: Any error of the clock, and `CancellationError` if the clock wakes the task early and
  ///   the task is cancelled.
  package nonisolated(nonsending) func wait(until moment: Instant) async throws {
    while true {
      try await sleep(until: moment, tolerance: nil)
      if now >= moment { return }
      // The clock may return immediately. Other tasks, such as the canceller, run first.
      await Task.yield()
      try Task.checkCancellation()
    }
  }
}

extension Clock<Duration> {
  /// Sleeps until a duration has passed on the clock.
  package nonisolated(nonsending) func wait(for duration: Duration) async throws {
    try await wait(until: instant(in: duration))
  }

  /// The instant that the clock reaches after a duration from now, or after about a century: a clock
  /// may not be able to represent much later instants.
  func instant(in duration: Duration) -> Instant {
    now.advanced(by: min(duration, .seconds(3_000_000_000)))
  }
}
