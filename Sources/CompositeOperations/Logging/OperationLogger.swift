/// Makes a log of what bodies say and of what happens to runs.
///
/// ```swift
/// let environment = OperationEnvironment(observers: [OperationLogger(.standardError, level: .debug)])
/// let outcome = await sync.run(in: environment)
/// ```
///
/// | what | level |
/// |---|---|
/// | ``OperationContext/log(_:_:)`` | that of the line |
/// | an outermost run ended in an error | ``OperationLogLevel/error`` |
/// | another run ended in an error of its own; a callback operation was finished twice | ``OperationLogLevel/warning`` |
/// | a retry; a cancellation of an outermost run; what a body that was left behind came to | ``OperationLogLevel/notice`` |
/// | an outermost run ended in a result | ``OperationLogLevel/info`` |
/// | the starts, ends, cancellations and waits of all others, also ends in an error of children | ``OperationLogLevel/debug`` |
/// | everything else | ``OperationLogLevel/trace`` |
///
/// An outermost run is one that no observed run runs.
public final class OperationLogger: OperationObserver {
  private let handler: any OperationLogHandler
  private let level: OperationLogLevel
  /// When those began that go on.
  private let beginnings = Lock<[OperationID: EventTime]>([:])

  /// - Parameters:
  ///   - handler: Takes the lines.
  ///   - level: The least level of the lines that it takes.
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
      .childrenExpected, .logged, .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
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
      // What is made of the errors of others has been told already.
      isOutermost ? .error : error is any EvidenceDescribing ? .debug : .warning
    case .ended(.cancelled, _), .cancellationRequested: isOutermost ? .notice : .debug
    case .ended(.result, _): isOutermost ? .info : .debug
    case .finishedAgain: .warning
    case .retryScheduled, .abandonedBodyEnded: .notice
    case .started, .waitingBegan, .waitingEnded: .debug
    case .created, .childStarted, .progressed, .childrenExpected: .trace
    }
  }

  /// What a log says of it.
  ///
  /// - Parameter duration: How long the run took that has ended.
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
      .childrenExpected, .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
      what
    }
  }
}
