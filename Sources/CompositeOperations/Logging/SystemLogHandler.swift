#if canImport(os)
  // Nobody here has a machine to test it on.
  public import os

  /// Writes the lines of a log to the system's log. What they say is private there unless a debugger is
  /// attached, as all strings are; the path and the identity of the run are not.
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
      let (path, id) = (line.path.description, line.id.description)
      logger.log(level: type, "\(path, privacy: .public) \(id, privacy: .public): \(line.text)")
    }
  }

  /// Makes an interval of signposts of every run, for Instruments.
  public struct SignpostObserver: OperationObserver {
    private let log: OSLog

    /// - Parameter log: The system's log, with its subsystem and category.
    public init(_ log: OSLog) { self.log = log }

    public var leastLogLevel: OperationLogLevel? { nil }

    public func observe(_ event: OperationEvent) {
      let id = OSSignpostID(event.id.number)
      switch event.kind {
      case .created:
        os_signpost(
          .begin, log: log, name: "Operation", signpostID: id, "%{public}s",
          event.path.description)
      case .ended(let outcome, _):
        os_signpost(
          .end, log: log, name: "Operation", signpostID: id, "%{public}s", outcome.word)
      case .started, .childStarted, .waitingBegan, .waitingEnded, .retryScheduled, .progressed,
        .childrenExpected, .logged, .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
        break
      }
    }
  }

  extension Outcome {
    fileprivate var word: String {
      switch self {
      case .result: "result"
      case .error: "error"
      case .cancelled: "cancelled"
      }
    }
  }
#endif
