package import CompositeOperations
internal import SystemSupport

/// The part of an event that a trace keeps.
///
/// Errors are described when the entry is made, so that no user code runs when entries are
/// assembled.
package struct TraceEntry: Sendable {
  enum What: Sendable {
    case created
    case started
    case waitingBegan(OperationEvent.Wait)
    case waitingEnded(OperationEvent.Wait)
    case noted(OperationLogLevel?, String)
    case attributesSet([String: OperationAttribute])
    case askedToCancel(reason: String?)
    /// `late` describes the late outcome; nil if there is none.
    case ended(OperationTrace.End, late: String?)
  }

  let what: What
  let place: OperationPlace
  let time: EventTime

  /// - Returns: Nil if traces omit the event.
  package init?(_ event: OperationEvent) {
    switch event.kind {
    case .childStarted, .progressed, .childrenExpected: return nil
    case .created: what = .created
    case .started: what = .started
    case .waitingBegan(let wait): what = .waitingBegan(wait)
    case .waitingEnded(let wait): what = .waitingEnded(wait)
    case .retryScheduled(let attempt, let delay, let error):
      what = .noted(nil, "attempt \(attempt) after \(delay), because of: \(error)")
    case .cancellationRequested(let reason): what = .askedToCancel(reason: reason)
    case .attributesSet(let attributes): what = .attributesSet(attributes)
    case .logged(let level, let text): what = .noted(level, text)
    case .finishedAgain(let outcome): what = .noted(nil, "finished again: \(outcome.kind)")
    case .abandonedBodyEnded(let outcome):
      what = .noted(nil, "an abandoned body ended: \(outcome.kind)")
    case .ended(let outcome, let late):
      let end: OperationTrace.End =
        switch outcome {
        case .result: .result
        case .error(let error): .error("\(error)")
        case .cancelled: .cancelled(reason: nil)
        }
      what = .ended(end, late: late.map { late in late.error.map { "\($0)" } ?? late.kind })
    }
    place = event.place
    time = event.time
  }

  init(_ what: What, place: OperationPlace, time: EventTime) {
    self.what = what
    self.place = place
    self.time = time
  }

  /// The outermost run above, or the run itself.
  ///
  /// - Complexity: O(*depth*).
  var outermost: OperationID {
    var place = place
    while let parent = place.parent { place = parent }
    return place.id
  }
}

extension Outcome {
  /// The kind of the outcome, with the error but without the value.
  fileprivate var kind: String {
    switch self {
    case .result: "a result"
    case .error(let error): "an error, \(error)"
    case .cancelled: "a cancellation"
    }
  }
}
