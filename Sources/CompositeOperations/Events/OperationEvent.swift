/// Something that happened to a run.
///
/// A run's first event is ``Kind/created``, and its last ``Kind/ended(_:late:)``; only
/// ``Kind/finishedAgain(_:)`` and ``Kind/abandonedBodyEnded(_:)`` may still follow. Between the two
/// comes ``Kind/started``, unless the run was cancelled before, and then a ``Kind/childStarted(_:)``
/// for every operation that it runs. The ends of its children come before its own. What a body runs that
/// was left behind may be told of later.
///
/// What a run waits for is told between ``Kind/waitingBegan(for:)`` and ``Kind/waitingEnded(for:)``; before it
/// starts only a place in a pool is. A child of a composite is created when there is a place for it.
///
/// Where children run side by side, the events that tell of them may arrive at the same time. So may
/// ``Kind/cancellationRequested(reason:)``, at any moment between the first event and the last.
public struct OperationEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable {
    /// The run has an identity; its body has not begun.
    case created
    /// The body begins.
    case started
    /// The run runs another operation; that one's own events follow.
    case childStarted(OperationID)
    /// The run waits.
    case waitingBegan(for: Wait)
    /// The run has what it waited for, or waits for it no longer.
    case waitingEnded(for: Wait)
    /// An attempt failed, and another one follows.
    ///
    /// - Parameters:
    ///   - attempt: The number of the next one; the first one of all has the number 1.
    ///   - delay: How long it waits.
    ///   - error: What the attempt before failed by.
    case retryScheduled(attempt: Int, after: Duration, because: any Error)
    /// The body told how far it is.
    ///
    /// - Parameters:
    ///   - completed: How many units it has done.
    ///   - total: How many it will have done in the end; nil if it does not know.
    ///   - unit: What it counts.
    case progressed(completed: Int, total: Int?, unit: String?)
    /// The run knows how many children it is going to run, or what they weigh together for its progress.
    case childrenExpected(ExpectedChildren)
    /// The body has something to say.
    case logged(OperationLogLevel, String)
    /// The run was cancelled, with the reason if one was given. Often reported under a lock of the
    /// task: see ``OperationObserver``.
    case cancellationRequested(reason: String?)
    /// A callback operation was finished a second time; this outcome was dropped.
    case finishedAgain(Outcome<any Sendable>)
    /// A body has ended that the run had left behind, and what it came to was given up.
    case abandonedBodyEnded(Outcome<any Sendable>)
    /// The run is over.
    ///
    /// `late` is what the body came to although the outcome is ``Outcome/cancelled``: a value or
    /// an error that came after the cancellation, or the evidence of a composite, which is a
    /// ``ParallelOperationError``, a ``SequentialOperationError`` or an ``OperationGraphError``. Nil if
    /// there is nothing more to know.
    case ended(Outcome<any Sendable>, late: Outcome<any Sendable>?)
  }

  /// What a run knows of its children before it runs them.
  public enum ExpectedChildren: Hashable, Sendable {
    /// How many they are. Those that have not begun count as if they weighed 1.
    case count(Int)
    /// What they weigh together.
    case weight(Double)
  }

  /// What a run waits for.
  public enum Wait: Hashable, Sendable {
    /// A place in a pool.
    case place
    /// Permits, by their names.
    case permits([String])
    /// Its turn by a rate.
    case rate
    /// Conditions, by their names.
    case conditions([String])
    /// A time to pass.
    case time(Duration)
    /// A moment of another clock.
    case moment
    /// A run that others share, by its key.
    case sharedResult(String)
  }

  /// What happened.
  public let kind: Kind
  /// When it happened, by the clock of the machine and not by that of the environment.
  public var instant: ContinuousClock.Instant { time.instant }
  /// Which run it happened to.
  public var id: OperationID { place.id }
  /// The run that runs this one, or nil for an outermost run.
  public var parent: OperationID? { place.parent?.id }
  /// The name of the operation.
  public var name: String { place.name }
  /// The number of the attempt, of ``ComposableOperation/retrying(attempts:backoff:within:when:)``, that the
  /// run is; 1 where nobody retries it.
  public var attempt: Int { place.attempt }
  /// The names from the outermost run to this one.
  public var path: OperationPath { OperationPath(place: place) }

  /// Whether this is the run of a modifier, such as `retrying`, with the name of the operation that it
  /// runs as a child.
  package var isOfModifier: Bool { place.share.isOfModifier }

  /// The kind, if it is one of those that most runs have.
  let step: Step?
  let place: OperationPlace
  let time: EventTime

  init(kind: Kind, step: Step? = nil, place: OperationPlace, time: EventTime = .now) {
    self.kind = kind
    self.step = step
    self.place = place
    self.time = time
  }
}

extension OperationEvent {
  /// What happens to most runs.
  ///
  /// A `switch` over a ``Kind``, which can hold values of any type, copies all of it first; one over this does not.
  enum Step: UInt8, Sendable {
    case created, started, childStarted
    /// Ended in a result, with nothing that came too late.
    case endedInResult
  }
}

extension OperationEvent: CustomStringConvertible {
  public var description: String { "\(path) \(id) \(what)" }

  /// What happened, in words.
  var what: String {
    switch kind {
    case .created: "created"
    case .started: "started"
    case .childStarted(let child): "started child \(child)"
    case .waitingBegan(let wait): "waits for \(wait)"
    case .waitingEnded(let wait): "has waited for \(wait)"
    case .retryScheduled(let attempt, let delay, let error):
      "retry scheduled: attempt \(attempt) after \(delay), because: \(error)"
    case .progressed(let completed, let total, let unit):
      "progress: \(completed)" + (total.map { " of \($0)" } ?? "") + (unit.map { " \($0)" } ?? "")
    case .childrenExpected(.count(let count)): "expects \(count) children"
    case .childrenExpected(.weight(let weight)): "expects children of weight \(weight)"
    case .logged(let level, let text): "logged (\(level)): \(text)"
    case .cancellationRequested(let reason):
      "asked to cancel" + (reason.map { " because \($0)" } ?? "")
    case .finishedAgain(let outcome): "finished again: \(outcome)"
    case .abandonedBodyEnded(let outcome): "abandoned body ended: \(outcome)"
    case .ended(let outcome, let late):
      "ended: \(outcome)" + (late.map { " (late: \($0))" } ?? "")
    }
  }
}

extension OperationEvent.Wait: CustomStringConvertible {
  public var description: String {
    switch self {
    case .place: "a place"
    case .permits(let names), .conditions(let names): names.joined(separator: ", ")
    case .rate: "its turn"
    case .time(let time): "\(time)"
    case .moment: "a point in time"
    case .sharedResult(let key): "the shared result for \(key)"
    }
  }
}
