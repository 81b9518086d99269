#if canImport(os)
  // Nobody here has a machine to test it on.
  public import os

  /// Writes the lines of a log to the system's log, where Console shows them.
  public struct SystemLogHandler: OperationLogHandler {
    private let logger: Logger

    /// - Parameter logger: The system's logger, with its subsystem and category.
    public init(_ logger: Logger) { self.logger = logger }

    public func write(_ line: OperationLogLine) {
      let type: OSLogType =
        switch line.level {
        case .trace, .debug: .debug
        case .info: .info
        case .notice, .warning: .default
        case .error: .error
        case .critical: .fault
        }
      logger.log(level: type, "\(line.path.description) \(line.id.description): \(line.text)")
    }
  }

  /// Makes an interval of signposts of every run, for Instruments.
  public final class SignpostObserver: OperationObserver {
    private let signposter: OSSignposter
    private let states = Lock<[OperationID: OSSignpostIntervalState]>([:])

    /// - Parameter signposter: The system's signposter, with its subsystem and category.
    public init(_ signposter: OSSignposter) { self.signposter = signposter }

    public var leastLogLevel: OperationLogLevel? { nil }

    public func observe(_ event: OperationEvent) {
      switch event.kind {
      case .started:
        let state = signposter.beginInterval(
          "Operation", id: signposter.makeSignpostID(), "\(event.path.description)")
        states.withLock { $0[event.id] = state }
      case .ended(let outcome, _):
        guard let state = states.withLock({ $0.removeValue(forKey: event.id) }) else { return }
        signposter.endInterval("Operation", state, "\(outcome)")
      case .created, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
        .childrenExpected, .logged, .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
        break
      }
    }
  }
#endif
