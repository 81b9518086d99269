/// Something that happened to a run.
///
/// A run's first event is ``Kind/created``, and its last ``Kind/ended(_:late:)``; only
/// ``Kind/finishedAgain(_:)`` and ``Kind/abandonedBodyEnded(_:)`` may still follow. Between the two
/// comes ``Kind/started``, unless the run was cancelled before, and then a ``Kind/childStarted(_:)``
/// for every operation that it runs. The ends of its children come before its own. What a body runs that
/// was left behind may be told of later.
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
    /// Somebody asked the run to stop. It tells why where a reason was given.
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

  /// What happened.
  public let kind: Kind
  /// Which run it happened to.
  public var id: OperationID { place.id }
  /// The run that runs this one, or nil for an outermost run.
  public var parent: OperationID? { place.parent?.id }
  /// The name of the operation.
  public var name: String { place.name }
  /// The names from the outermost run to this one.
  public var path: OperationPath { OperationPath(place: place) }

  let place: OperationPlace
}

extension OperationEvent: CustomStringConvertible {
  public var description: String {
    let what =
      switch kind {
      case .created: "created"
      case .started: "started"
      case .childStarted(let child): "started child \(child)"
      case .cancellationRequested(let reason):
        "asked to cancel" + (reason.map { " because \($0)" } ?? "")
      case .finishedAgain(let outcome): "finished again: \(outcome)"
      case .abandonedBodyEnded(let outcome): "left a body behind that ended: \(outcome)"
      case .ended(let outcome, let late):
        "ended: \(outcome)" + (late.map { " (late: \($0))" } ?? "")
      }
    return "\(path) \(id) \(what)"
  }
}
