internal import CompositeOperations

#if canImport(os)
  // Untested: no Apple platform was available.
  public import os

  /// A log handler that writes to the system log. Messages are private unless a debugger is
  /// attached, as all strings are; the paths and the identifiers of runs are public.
  public struct SystemLogHandler: OperationLogHandler {
    private let logger: Logger

    /// Creates a handler.
    ///
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

  /// An observer that records every run as a signpost interval, for Instruments.
  public struct SignpostObserver: OperationObserver {
    private let log: OSLog

    /// Creates an observer.
    ///
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
        .childrenExpected, .attributesSet, .logged, .cancellationRequested, .finishedAgain,
        .abandonedBodyEnded:
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
