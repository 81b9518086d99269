internal import CompositeOperations

extension RecordingObserver {
  /// Expects that something has happened, or how often.
  ///
  /// ```swift
  /// try recorder.expect(.waited("save", for: .permits(["database"])))
  /// try recorder.expect(.retried("fetch"), times: 2)
  /// try recorder.expect(.started("fetch"), times: 3)
  /// ```
  ///
  /// A modifier such as `retrying`, `repeating` or `onEnd` has a run of its own, with the name of the
  /// operation that it runs as a child. Its start, its end and its cancellation do not count in addition
  /// to those of its children, so three attempts are three starts. Its waits and retries do count. A
  /// modifier with a name of its own, as in `fetch.retrying(attempts: 3).named("fetch with retries")`,
  /// counts under that name.
  ///
  /// - Parameters:
  ///   - pattern: What is to have happened.
  ///   - count: How often; nil for once or more.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  /// - Throws: An ``ExpectationError`` if it has not.
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

  /// Expects that something has not happened.
  ///
  /// ```swift
  /// try recorder.expectNever(.started("save"))
  /// ```
  ///
  /// - Parameters:
  ///   - pattern: What is not to have happened.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  /// - Throws: An ``ExpectationError`` if it has.
  public func expectNever(
    _ pattern: EventPattern, file: String = #fileID, line: Int = #line
  ) throws {
    try expect(pattern, times: 0, file: file, line: line)
  }

  /// Expects that things have happened one after the other, whatever happened in between.
  ///
  /// The runs of modifiers do not count, as in ``expect(_:times:file:line:)``.
  ///
  /// ```swift
  /// try recorder.expectOrder(.started("fetch"), .succeeded("fetch"), .started("save"))
  /// ```
  ///
  /// - Parameters:
  ///   - patterns: What is to have happened, in this order.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  /// - Throws: An ``ExpectationError`` that names the first one that was not seen behind those before it.
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

  /// Expects that never more runs of a name were going on at once than a number.
  ///
  /// ```swift
  /// try recorder.expectAtMost(3, inFlight: "fetch")
  /// ```
  ///
  /// An operation that is retried counts once, with all of its attempts.
  ///
  /// - Parameters:
  ///   - limit: How many may have been going on at once.
  ///   - name: What the operations are called.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  /// - Throws: An ``ExpectationError`` if there were more.
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
        // An attempt runs within the run that it is an attempt of.
        var above = event.parent
        while let id = above, !running.contains(id) { above = parents[id] }
        if above == nil { running.insert(event.id) }
        most = max(most, running.count)
      case .ended: running.remove(event.id)
      case .created, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
        .childrenExpected, .logged, .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
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
  /// Without the starts, ends and cancellations of modifiers that have run their operation as a child.
  fileprivate var countable: [OperationEvent] {
    let parents = Set(compactMap(\.parent))
    return filter { event in
      guard event.isOfModifier, parents.contains(event.id) else { return true }
      return switch event.kind {
      case .created, .started, .ended, .cancellationRequested: false
      case .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
        .childrenExpected, .logged, .finishedAgain, .abandonedBodyEnded:
        true
      }
    }
  }
}
