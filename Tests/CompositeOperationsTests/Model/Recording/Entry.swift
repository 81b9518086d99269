/// An entry in the log of a tree, recorded by a leaf, a closure or a `RecordedOperation`.
///
/// A node is identified by its number. `isCancelled` is read when the entry is added, under the
/// lock of the log.
enum Entry: Sendable, Equatable {
  // MARK: Every node

  case began(Int, isCancelled: Bool)
  /// A body checked after a suspension whether it is cancelled.
  case checkedCancellation(Int, isCancelled: Bool)
  /// The body has ended. The parent decides the outcome of the run next.
  case ended(Int, ShownOutcome, isCancelled: Bool)
  /// A body has reached its computation timeout, and the event that it waited for has not occurred.
  case computationTimedOut(Int)
  /// A value was discarded.
  case discarded(Int, ShownValue)

  // MARK: Closures, sequences and bodies

  /// The source of a list creates a child.
  case made(Int, child: Int, isCancelled: Bool)
  /// The source of a list threw.
  case sourceFailed(Int, ShownError, isCancelled: Bool)
  /// A sequence is called for the next step.
  case asked(Int, after: ShownStep?, isCancelled: Bool)
  /// A sequence or the closure of a modifier has decided.
  case answered(Int, Answer)
  /// The closure of `map`, `then` or `repeating`, or the output of a sequence, receives a value.
  case called(Int, ShownValue)
  /// The outcome of a closure or a body.
  case closureEnded(Int, ShownOutcome)
  /// The closure of a modifier receives an error, and possibly the number of the attempt.
  case calledWithError(Int, ShownError, attempt: Int?, isCancelled: Bool)
  /// The closure of `finally` receives the outcome of the operation.
  case finallyBegan(Int, ShownOutcome, isCancelled: Bool)
  /// The closure of `finally` is about to return.
  case finallyEnded(Int, isCancelled: Bool)
  /// A condition is evaluated. A cancelled run does not wait for it.
  case conditionAsked(Int, Int, ticket: Int, isCancelled: Bool)
  /// A condition is about to return or throw.
  case conditionAnswered(ticket: Int, ConditionAnswer)
  /// A body that its run may abandon begins.
  case abandonableBodyBegan(Int, ticket: Int, isCancelled: Bool)
  /// Such a body checked after a suspension whether it is cancelled.
  case abandonableBodyCheckedCancellation(ticket: Int, isCancelled: Bool)
  /// Such a body was abandoned, and has not been cancelled within the computation timeout.
  case abandonedBodyWasNotCancelled(ticket: Int)
  /// Such a body has ended.
  case abandonableBodyEnded(ticket: Int, ShownOutcome, isCancelled: Bool)
  /// A body receives the outcome of a child.
  case received(Int, child: Int, ShownOutcome, isCancelled: Bool)

  // MARK: From outside

  /// The run is about to be cancelled.
  case cancels
  /// The run has been cancelled.
  case cancelled

  /// The result of a condition.
  enum ConditionAnswer: Sendable, Equatable {
    case proceeds, skips
    case fails(ShownError)

    var error: ShownError? {
      if case .fails(let error) = self { error } else { nil }
    }
  }

  /// The decision of a sequence or a closure.
  enum Answer: Sendable, Equatable {
    case child(Int)
    /// The same operation again.
    case again
    case end
    case threw(ShownError)

    /// The error that was thrown, if any.
    var error: ShownError? {
      if case .threw(let error) = self { error } else { nil }
    }
  }
}

extension Entry: CustomStringConvertible {
  var description: String {
    switch self {
    case .began(let node, let flag): "n\(node) began\(flag.note)"
    case .checkedCancellation(let node, let flag): "n\(node) checked for a cancellation\(flag.note)"
    case .ended(let node, let outcome, let flag): "n\(node) ended as \(outcome)\(flag.note)"
    case .computationTimedOut(let node): "n\(node) reached its computation timeout"
    case .discarded(let node, let value): "n\(node) discarded \(value)"
    case .made(let node, let child, let flag): "n\(node) created child \(child)\(flag.note)"
    case .sourceFailed(let node, let error, let flag):
      "n\(node)'s source threw \(error)\(flag.note)"
    case .asked(let node, let step, let flag):
      "n\(node) was called after \(step.map { "\($0)" } ?? "nothing")\(flag.note)"
    case .answered(let node, let answer): "n\(node) answered \(answer)"
    case .called(let node, let value): "n\(node) received \(value)"
    case .closureEnded(let node, let outcome): "n\(node)'s closure ended as \(outcome)"
    case .calledWithError(let node, let error, let attempt, let flag):
      "n\(node) received \(error)\(attempt.map { ", attempt \($0)" } ?? "")\(flag.note)"
    case .finallyBegan(let node, let outcome, let flag):
      "n\(node) began its finally closure with \(outcome)\(flag.note)"
    case .finallyEnded(let node, let flag): "n\(node) ended its finally closure\(flag.note)"
    case .conditionAsked(let node, let index, let ticket, let flag):
      "n\(node) evaluated condition \(index), ticket \(ticket)\(flag.note)"
    case .conditionAnswered(let ticket, let answer): "ticket \(ticket): \(answer)"
    case .abandonableBodyBegan(let node, let ticket, let flag):
      "the abandonable body of n\(node) began, ticket \(ticket)\(flag.note)"
    case .abandonableBodyCheckedCancellation(let ticket, let flag):
      "ticket \(ticket) checked for a cancellation\(flag.note)"
    case .abandonedBodyWasNotCancelled(let ticket):
      "body \(ticket) was abandoned, and not cancelled"
    case .abandonableBodyEnded(let ticket, let outcome, let flag):
      "ticket \(ticket) ended as \(outcome)\(flag.note)"
    case .received(let node, let child, let outcome, let flag):
      "n\(node) received from child \(child): \(outcome)\(flag.note)"
    case .cancels: "--- is being cancelled"
    case .cancelled: "--- is cancelled"
    }
  }
}

extension Bool {
  fileprivate var note: String { self ? ", cancelled" : "" }
}
