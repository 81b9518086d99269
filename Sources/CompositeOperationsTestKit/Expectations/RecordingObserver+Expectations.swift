internal import CompositeOperations

extension RecordingObserver {
  /// Expects that an event happened, or how often it happened.
  ///
  /// ```swift
  /// try recorder.expect(.waited("save", for: .permits(["database"])))
  /// try recorder.expect(.retried("fetch"), times: 2)
  /// try recorder.expect(.started("fetch"), times: 3)
  /// ```
  ///
  /// A modifier such as `retrying`, `repeating` or `onEnd` has a run of its own, with the name of
  /// the operation that it runs as a child. Its start, end and cancellation do not count in
  /// addition to the child's, so three attempts are three starts. Its waits and retries do count.
  /// A modifier with a name of its own counts under that name, as in
  /// `fetch.retrying(attempts: 3).named("fetch with retries")`.
  ///
  /// - Parameters:
  ///   - pattern: The expected event.
  ///   - count: The expected number of times; nil for at least once.
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Throws: An ``ExpectationError`` if the event did not happen, or happened another number of
  ///   times.
  /// - Precondition: `count` is not negative.
  public func expect(
    _ pattern: EventPattern, times count: Int? = nil, file: String = #fileID, line: Int = #line
  ) throws {
    precondition(count ?? 0 >= 0, "`count` must not be negative (was \(count ?? 0))")
    let events = events
    let seen = events.countable.count(where: pattern.matches)
    if count.map({ $0 == seen }) ?? (seen > 0) { return }
    let expected = count.map { "\($0) times" } ?? "at least once"
    throw unexpected(
      "expected \"\(pattern)\" \(expected), but saw it \(seen) times", among: events, file: file,
      line: line)
  }

  /// Expects that an event did not happen.
  ///
  /// ```swift
  /// try recorder.expectNever(.started("save"))
  /// ```
  ///
  /// - Parameters:
  ///   - pattern: The unexpected event.
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Throws: An ``ExpectationError`` if the event happened.
  public func expectNever(
    _ pattern: EventPattern, file: String = #fileID, line: Int = #line
  ) throws {
    try expect(pattern, times: 0, file: file, line: line)
  }

  /// Expects that events happened in an order. Other events may happen in between.
  ///
  /// Runs of modifiers do not count, as in ``expect(_:times:file:line:)``.
  ///
  /// ```swift
  /// try recorder.expectOrder(.started("fetch"), .succeeded("fetch"), .started("save"))
  /// ```
  ///
  /// - Parameters:
  ///   - patterns: The expected events, in order.
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Throws: An ``ExpectationError`` that names the first event that did not happen after those
  ///   before it.
  public func expectOrder(
    _ patterns: EventPattern..., file: String = #fileID, line: Int = #line
  ) throws {
    let events = events
    var rest = events.countable[...]
    var before: EventPattern?
    for pattern in patterns {
      guard let index = rest.firstIndex(where: pattern.matches) else {
        let place = before.map { " after \"\($0)\"" } ?? ""
        throw unexpected(
          "expected \"\(pattern)\"\(place), but did not see it", among: events, file: file,
          line: line)
      }
      rest = rest[(index + 1)...]
      before = pattern
    }
  }

  /// Expects a maximum number of concurrent runs with a name.
  ///
  /// ```swift
  /// try recorder.expectAtMost(3, inFlight: "fetch")
  /// ```
  ///
  /// An operation that is retried counts once, with all its attempts.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of concurrent runs.
  ///   - name: The name of the operations.
  ///   - file: The module and file to report in the error, by default the file of the call.
  ///   - line: The line to report in the error, by default the line of the call.
  /// - Throws: An ``ExpectationError`` if more runs were in flight at the same time.
  /// - Precondition: `limit` is not negative.
  public func expectAtMost(
    _ limit: Int, inFlight name: String, file: String = #fileID, line: Int = #line
  ) throws {
    precondition(limit >= 0, "`limit` must not be negative (was \(limit))")
    let events = events
    let most = mostInFlight(name, in: events)
    if most <= limit { return }
    throw unexpected(
      "expected at most \(limit) concurrent runs of \(name), but saw \(most)", among: events,
      file: file, line: line)
  }

  private func mostInFlight(_ name: String, in events: [OperationEvent]) -> Int {
    var parents: [OperationID: OperationID] = [:]
    var running: Set<OperationID> = []
    var most = 0
    for event in events {
      parents[event.id] = event.parent
      guard event.name == name else { continue }
      switch event.kind {
      case .started:
        // An attempt runs within the run of its retry modifier, and does not count in addition to
        // it.
        var above = event.parent
        while let id = above, !running.contains(id) { above = parents[id] }
        if above == nil { running.insert(event.id) }
        most = max(most, running.count)
      case .ended: running.remove(event.id)
      case .created, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
        .childrenExpected, .attributesSet, .logged, .cancellationRequested, .finishedAgain,
        .abandonedBodyEnded:
        break
      }
    }
    return most
  }

  private func unexpected(
    _ message: String, among events: [OperationEvent], file: String, line: Int
  ) -> ExpectationError {
    let shown = 50
    var lines = [message + (events.isEmpty ? "; no events were recorded" : ". Recorded events:")]
    lines += events.prefix(shown).map { "  \($0)" }
    if events.count > shown { lines.append("  … and \(events.count - shown) more") }
    return ExpectationError(message: lines.joined(separator: "\n"), file: file, line: line)
  }
}

extension [OperationEvent] {
  /// The events without starts, ends and cancellations of modifiers that ran their operation as a
  /// child.
  fileprivate var countable: [OperationEvent] {
    let parents = Set(compactMap(\.parent))
    return filter { event in
      guard event.isOfModifier, parents.contains(event.id) else { return true }
      return switch event.kind {
      case .created, .started, .ended, .cancellationRequested: false
      case .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
        .childrenExpected, .attributesSet, .logged, .finishedAgain, .abandonedBodyEnded:
        true
      }
    }
  }
}
