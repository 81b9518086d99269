public import CompositeOperations

/// A record of runs: their times, what they waited for, and how they ended.
///
/// ```swift
/// let recorder = TraceRecorder()
/// _ = await sync.observed(by: recorder).run()
/// print(recorder.trace.text)
/// ```
///
/// All times are measured from ``beginning``. A trace does not contain the results of runs.
public struct OperationTrace: Sendable {
  /// The start of the trace, in nanoseconds since 1970-01-01, UTC.
  public let beginning: Int64
  /// The runs, in the order of their creation.
  public let spans: [Span]
  /// How many events were dropped because the recorder was full.
  public let droppedCount: Int
  /// The seed of the identifiers in exported files.
  package let seed: TraceSeed

  package init(
    beginning: Int64, seed: TraceSeed = .process, spans: [Span], droppedCount: Int = 0
  ) {
    self.beginning = beginning
    self.seed = seed
    self.spans = spans
    self.droppedCount = droppedCount
  }

  /// The time of the last known event.
  public var end: Duration { spans.map(\.lastTime).max() ?? .zero }
}

extension OperationTrace {
  /// A run of an operation.
  public struct Span: Sendable, Identifiable {
    /// The identifier of the run.
    public let id: OperationID
    /// The parent of the run; nil for an outermost run.
    public let parent: OperationID?
    /// The outermost run above this one, or the run itself.
    package let outermost: OperationID
    /// The link to a span of other processes; nil if the trace is in this process only.
    package let link: TraceLink?
    /// Whether the parent in exported traces is the span of the link.
    package let isBelowLink: Bool
    /// The span of the link, if the run has completed it.
    package internal(set) var whole: TraceLink.Whole?
    /// The name of the operation.
    public let name: String
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// When the run was created.
    public let created: Duration
    /// When the body started; nil if it has not started.
    public package(set) var started: Duration?
    /// When the run ended; nil if it has not ended.
    public package(set) var ended: Duration?
    /// How the run ended; nil if it has not ended.
    public package(set) var end: End?
    /// The waits of the run, in the order in which they began.
    public package(set) var waits: [Wait] = []
    /// Log lines and other events of the run, in chronological order.
    public package(set) var notes: [Note] = []
    /// The attributes that the body has set, the last value of each name.
    public package(set) var attributes: [String: OperationAttribute] = [:]
    /// How many waits, notes and attributes were dropped, because there were more than 1,000 waits
    /// or notes, or 100 attributes.
    public package(set) var droppedCount = 0
    /// The row in a timeline. Runs that share a row at one time are nested.
    public package(set) var lane: Int

    package init(
      id: OperationID, parent: OperationID?, outermost: OperationID? = nil,
      link: TraceLink? = nil, isBelowLink: Bool = false, name: String, attempt: Int,
      created: Duration, lane: Int
    ) {
      self.id = id
      self.parent = parent
      self.outermost = outermost ?? id
      self.link = link
      self.isBelowLink = isBelowLink
      self.name = name
      self.attempt = attempt
      self.created = created
      self.lane = lane
    }

    /// The maximum number of waits, and of notes, of a run: a run may never end.
    static let mostDetails = 1_000
    /// The maximum number of attributes of a run.
    static let mostAttributes = 100

    /// The time from the creation to the end of the run; nil if it has not ended.
    public var duration: Duration? { ended.map { $0 - created } }

    /// The time of the last known event of the run.
    var lastTime: Duration {
      max(
        ended ?? started ?? created, waits.last.map { $0.ended ?? $0.began } ?? .zero,
        notes.last?.time ?? .zero)
    }
  }

  /// How a run ended.
  public enum End: Sendable, Equatable {
    /// The run ended in a result.
    case result
    /// The run ended in an error, which has this description.
    case error(String)
    /// The run was cancelled, for the reason if one was given.
    case cancelled(reason: String?)
  }

  /// A wait of a run.
  public struct Wait: Sendable {
    /// The kind of the wait.
    public let kind: OperationEvent.Wait
    /// When the wait began.
    public let began: Duration
    /// When the wait ended; nil if it has not ended.
    public package(set) var ended: Duration?
    /// The row in a timeline: the row of the run, unless a child occupies it.
    package var lane: Int

    package init(
      kind: OperationEvent.Wait, began: Duration, ended: Duration? = nil, lane: Int = 0
    ) {
      self.kind = kind
      self.began = began
      self.ended = ended
      self.lane = lane
    }
  }

  /// A log line or another event of a run.
  public struct Note: Sendable {
    /// When it happened.
    public let time: Duration
    /// The level of a log line; nil for an event that the engine reports.
    public let level: OperationLogLevel?
    /// The log line, or a description of the event.
    public let text: String

    package init(time: Duration, level: OperationLogLevel?, text: String) {
      self.time = time
      self.level = level
      self.text = text
    }
  }
}
