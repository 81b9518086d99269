public import CompositeOperations
internal import SystemSupport

/// An observer that logs the messages of bodies and the events of runs.
///
/// ```swift
/// let logger = OperationLogger(.standardError, level: .debug)
/// let outcome = await sync.run(in: OperationEnvironment(observers: [logger]))
/// ```
///
/// | ``/CompositeOperations/OperationLogLevel`` | what is logged at this level |
/// |---|---|
/// | the level of the message | ``/CompositeOperations/OperationContext/log(_:_:)`` |
/// | `error` | an outermost run ended in an error |
/// | `warning` | another run ended in an error of its own; a callback operation finished twice |
/// | `notice` | a retry; a cancellation of an outermost run; the end of an abandoned body |
/// | `info` | an outermost run ended in a result |
/// | `debug` | starts and waits; ends and cancellations of other runs, also by errors of children |
/// | `trace` | all other events |
///
/// An outermost run is a run without an observed parent.
public final class OperationLogger: OperationObserver {
  private let handler: any OperationLogHandler
  private let level: OperationLogLevel
  /// The start times of the runs that have not ended.
  private let beginnings = Lock<[OperationID: EventTime]>([:])

  /// Creates a logger.
  ///
  /// - Parameters:
  ///   - handler: The destination of the lines.
  ///   - level: The lowest level that is logged.
  public init(_ handler: some OperationLogHandler, level: OperationLogLevel = .info) {
    self.handler = handler
    self.level = level
  }

  public var leastLogLevel: OperationLogLevel? { level }

  public func observe(_ event: OperationEvent) {
    let level = event.level(isOutermost: event.parent == nil)
    var duration: Duration?
    switch event.kind {
    case .started:
      beginnings.withLock { $0[event.id] = event.time }
    case .ended:
      let start = beginnings.withLock { $0.removeValue(forKey: event.id) }
      duration = start.map { .nanoseconds(event.time.nanoseconds - $0.nanoseconds) }
    case .created, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
      .childrenExpected, .attributesSet, .logged, .cancellationRequested, .finishedAgain,
      .abandonedBodyEnded:
      break
    }
    guard level >= self.level else { return }
    handler.write(
      OperationLogLine(
        level: level, text: event.line(after: duration), id: event.id, path: event.path,
        attempt: event.attempt, nanosecondsSince1970: event.time.wallClock))
  }
}

extension OperationEvent {
  fileprivate func level(isOutermost: Bool) -> OperationLogLevel {
    switch kind {
    case .logged(let level, _): level
    case .ended(.error(let error), _):
      // The errors of children have already been logged.
      isOutermost ? .error : error is any ErrorTreeDescribing ? .debug : .warning
    case .ended(.cancelled, _), .cancellationRequested: isOutermost ? .notice : .debug
    case .ended(.result, _): isOutermost ? .info : .debug
    case .finishedAgain: .warning
    case .retryScheduled, .abandonedBodyEnded: .notice
    case .started, .waitingBegan, .waitingEnded: .debug
    case .created, .childStarted, .progressed, .childrenExpected, .attributesSet: .trace
    }
  }

  /// The message for the event.
  ///
  /// - Parameter duration: How long the run took, if it has ended.
  fileprivate func line(after duration: Duration?) -> String {
    let time = duration.map { " after \($0.readable)" } ?? ""
    return switch kind {
    case .logged(_, let text): text
    case .ended(.result, _): "ended in a result" + time
    case .ended(.error(let error), _): "failed" + time + ": \(OperationErrorTree(error))"
    case .ended(.cancelled, let late):
      "cancelled" + time + (late?.error.map { "; came too late: \(OperationErrorTree($0))" } ?? "")
    case .retryScheduled(let attempt, let delay, let error):
      "attempt \(attempt) follows after \(delay.readable): \(OperationErrorTree(error))"
    case .created, .started, .childStarted, .waitingBegan, .waitingEnded, .progressed,
      .childrenExpected, .attributesSet, .cancellationRequested, .finishedAgain,
      .abandonedBodyEnded:
      what
    }
  }
}
