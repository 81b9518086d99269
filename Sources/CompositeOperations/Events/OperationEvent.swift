package import ThreadSupport

/// An event of a run, as an ``OperationObserver`` receives it.
///
/// The first event of a run is ``Kind/created``. When the body is about to start, the run reports
/// ``Kind/started``, and then a ``Kind/childStarted(_:)`` for each child of the run. A run that is
/// cancelled before that, or that a pool refuses, reports neither. The last event is
/// ``Kind/ended(_:lateOutcome:)``, except that these can follow it:
///
/// - ``Kind/finishedAgain(_:)``
/// - ``Kind/abandonedBodyEnded(_:)``
/// - ``Kind/waitingEnded(for:)``, if an abandoned body was waiting
///
/// Children end before their parent, with two exceptions: abandoned conditions, and the children of
/// an abandoned body, can report events after the end of their parent.
///
/// A wait is a pair of ``Kind/waitingBegan(for:)`` and ``Kind/waitingEnded(for:)``. Between
/// ``Kind/created`` and ``Kind/started``, a run can wait only for a place in a pool. All other
/// waits, such as for permits or conditions, begin after ``Kind/started``. A child of a composite
/// does not report a wait for its place, because it is created when the place is free.
///
/// Children that run in parallel report their events concurrently. The ``Kind/childStarted(_:)``
/// events of their parent are reported concurrently, too. The thread that cancels a run reports
/// ``Kind/cancellationRequested(reason:)``, at any time between ``Kind/created`` and
/// ``Kind/ended(_:lateOutcome:)``. Concurrent events can arrive in another order than the order of
/// their ``instant``s.
public struct OperationEvent: Sendable {
  /// A kind of event.
  public enum Kind: Sendable {
    /// The run was created. Its body has not started.
    case created
    /// The body starts.
    case started
    /// The run starts another operation as a child, which reports events of its own.
    case childStarted(OperationID)
    /// The run begins to wait.
    case waitingBegan(for: Wait)
    /// The run stops waiting, whether or not it has received what it waited for.
    case waitingEnded(for: Wait)
    /// An attempt failed, and the run will make another one.
    ///
    /// - Parameters:
    ///   - attempt: The number of the next attempt. The first attempt of a run has the number 1.
    ///   - delay: The time until the next attempt.
    ///   - error: The error of the failed attempt.
    case retryScheduled(attempt: Int, after: Duration, because: any Error)
    /// The body reported its progress.
    ///
    /// - Parameters:
    ///   - completed: The number of completed units.
    ///   - total: The total number of units; nil if it is unknown.
    ///   - unit: The name of the unit.
    case progressed(completed: Int, total: Int?, unit: String?)
    /// The run declared the number of its children, or their total weight for its progress.
    case childrenExpected(ExpectedChildren)
    /// The body set attributes of the run. They replace earlier ones with the same names.
    case attributesSet([String: OperationAttribute])
    /// The body logged a message.
    case logged(OperationLogLevel, String)
    /// The run was cancelled, with the reason if one was given.
    ///
    /// Often reported while Swift holds a lock of the cancelled task. An observer must then return
    /// at once: see ``OperationObserver``.
    case cancellationRequested(reason: String?)
    /// A callback operation was finished more than once. The associated outcome was dropped.
    case finishedAgain(Outcome<any Sendable>)
    /// A body or a condition that the run had abandoned has ended. Its outcome was discarded.
    case abandonedBodyEnded(Outcome<any Sendable>)
    /// The run ended.
    ///
    /// `lateOutcome` is how the body ended although the outcome is ``Outcome/cancelled``; nil if
    /// there is no late outcome. ``OperationRun/lateOutcome`` describes it.
    case ended(Outcome<any Sendable>, lateOutcome: Outcome<any Sendable>?)
  }

  /// The children that a run declares before it runs them.
  public enum ExpectedChildren: Hashable, Sendable {
    /// The number of children. In the progress of the run, a child has the weight 1 until it
    /// starts, and then its own weight: see ``ComposableOperation/weighing(_:)``.
    case count(Int)
    /// The total weight of the children.
    case weight(Double)
  }

  /// The thing that a run waits for.
  public enum Wait: Hashable, Sendable {
    /// A place in a pool.
    case place
    /// Permits, with their names.
    case permits([String])
    /// A rate limit.
    case rate
    /// Conditions, with their names.
    case conditions([String])
    /// The end of a delay of this duration.
    case time(Duration)
    /// The instant that was passed to `delayed(until:on:)`.
    case moment
    /// The result of a shared run, with the key of that run.
    case sharedResult(String)
  }

  /// The kind of the event.
  public let kind: Kind
  /// The time of the event on the machine's clock, not on the clock of the environment.
  public var instant: ContinuousClock.Instant { time.instant }
  /// The identity of the run.
  public var id: OperationID { place.id }
  /// The identity of the parent run; nil for an outermost run.
  public var parent: OperationID? { place.parent?.id }
  /// The name of the operation.
  public var name: String { place.name }
  /// The number of the attempt, as counted by
  /// ``ComposableOperation/retrying(attempts:backoff:within:when:)``; 1 without retries.
  public var attempt: Int { place.attempt }
  /// The names from the outermost run to this one.
  public var path: OperationPath { OperationPath(place: place) }

  /// Whether this is the run of a modifier, such as `retrying`, with the name of the operation that
  /// it runs as a child.
  package var isOfModifier: Bool { place.share.isOfModifier }

  /// The kind as a step, if it is one.
  package let step: Step?
  package let place: OperationPlace
  package let time: EventTime

  init(kind: Kind, step: Step? = nil, place: OperationPlace, time: EventTime = .now) {
    self.kind = kind
    self.step = step
    self.place = place
    self.time = time
  }
}

extension OperationEvent {
  /// The kinds of event that most runs have.
  ///
  /// A `switch` over a ``Kind``, which can hold values of any type, first copies the whole kind. A
  /// `switch` over this type does not.
  package enum Step: UInt8, Sendable {
    case created, started, childStarted
    /// The run ended in a result, so there is no late outcome.
    case endedInResult
  }
}

extension OperationEvent: CustomStringConvertible {
  /// The path and the identity of the run, and the kind: `Sync/Fetch #2 waits for database`.
  public var description: String { "\(path) \(id) \(what)" }

  /// A description of the kind, without the run.
  package var what: String {
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
    case .attributesSet(let attributes):
      "set " + attributes.sortedByName.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
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
  /// The text that follows "waits for" in the description of an event, such as the names of the
  /// permits.
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
