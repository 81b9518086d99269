/// What ran: every run with its time, what it waited for, and how it ended.
///
/// ```swift
/// let recorder = TraceRecorder()
/// _ = await sync.observed(by: recorder).run()
/// print(recorder.trace.text)
/// ```
///
/// Times count from ``beginning``. What the runs gave is not in it.
public struct OperationTrace: Sendable {
  /// The moment from which times count, in nanoseconds since the beginning of 1970, UTC.
  public let beginning: Int64
  /// The runs, in the order of their creation.
  public let spans: [Span]
  /// How many events were not kept, because there were too many.
  public let droppedCount: Int
  /// What identities in the files of others are made of.
  package let seed: TraceSeed

  package init(
    beginning: Int64, seed: TraceSeed = .random(), spans: [Span], droppedCount: Int = 0
  ) {
    self.beginning = beginning
    self.seed = seed
    self.spans = spans
    self.droppedCount = droppedCount
  }

  /// The time at which the last thing happened that is known.
  public var end: Duration { spans.map(\.lastTime).max() ?? .zero }
}

extension OperationTrace {
  /// One run.
  public struct Span: Sendable, Identifiable {
    public let id: OperationID
    /// The run that ran this one; nil for an outermost one.
    public let parent: OperationID?
    /// The run that has none above it, which may be this one.
    package let outermost: OperationID
    /// The name of the operation.
    public let name: String
    /// The number of the attempt that the run is, from 1.
    public let attempt: Int
    /// When the run came to be.
    public let created: Duration
    /// When its body began; nil if it never did.
    public package(set) var started: Duration?
    /// When it ended; nil if it had not.
    public package(set) var ended: Duration?
    /// How it ended; nil if it had not.
    public package(set) var end: End?
    /// What it waited for, in the order of the beginnings.
    public package(set) var waits: [Wait] = []
    /// What else happened to it, in the order of time.
    public package(set) var notes: [Note] = []
    /// How many waits and notes were not kept, because it had more than 1,000 of either.
    public package(set) var droppedCount = 0
    /// A row of a picture: at any moment the runs of a row stand one below another.
    public package(set) var lane: Int

    package init(
      id: OperationID, parent: OperationID?, outermost: OperationID? = nil, name: String,
      attempt: Int, created: Duration, lane: Int
    ) {
      self.id = id
      self.parent = parent
      self.outermost = outermost ?? id
      self.name = name
      self.attempt = attempt
      self.created = created
      self.lane = lane
    }

    /// How many waits and how many notes are kept: a run may go on for ever.
    static let mostDetails = 1_000

    /// The time from its creation to its end; nil if it had not ended.
    public var duration: Duration? { ended.map { $0 - created } }

    /// The time of the last thing that happened to it.
    var lastTime: Duration {
      max(
        ended ?? started ?? created, waits.last.map { $0.ended ?? $0.began } ?? .zero,
        notes.last?.time ?? .zero)
    }
  }

  /// How a run ended.
  public enum End: Sendable, Equatable {
    case result
    /// In an error, by its description.
    case error(String)
    /// In a cancellation, and why if whoever cancelled it said so.
    case cancelled(reason: String?)
  }

  /// A time that a run waited for something.
  public struct Wait: Sendable {
    public let kind: OperationEvent.Wait
    public let began: Duration
    /// Nil if it went on.
    public package(set) var ended: Duration?
    /// The row of a picture that it has, which is that of its run if nothing else stands there.
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

  /// Something else that happened to a run.
  public struct Note: Sendable {
    public let time: Duration
    /// The level of a line that the body logged; nil for what the engine tells.
    public let level: OperationLogLevel?
    public let text: String

    package init(time: Duration, level: OperationLogLevel?, text: String) {
      self.time = time
      self.level = level
      self.text = text
    }
  }
}
