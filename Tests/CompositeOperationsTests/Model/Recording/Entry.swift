/// Something that happened in a tree, as those who took part noted it.
///
/// A node is named by its number. Whether its task was cancelled is asked at the very moment at
/// which the entry finds its place in the log.
enum Entry: Sendable, Equatable {
  // MARK: Every node

  case began(Int, isCancelled: Bool)
  /// A body looked after a pause whether it is cancelled.
  case checkedCancellation(Int, isCancelled: Bool)
  /// The body is over. How the run ends is decided now, by whoever runs it.
  case ended(Int, ShownOutcome, isCancelled: Bool)
  /// A body has computed for very long, and the event that it waited for has not occurred.
  case computationTimedOut(Int)
  /// A value was given up.
  case discarded(Int, ShownValue)

  // MARK: What the code of the users of composites sees and does

  /// The source of a list is asked for a child.
  case made(Int, child: Int, isCancelled: Bool)
  /// The source of a list threw.
  case sourceFailed(Int, ShownError, isCancelled: Bool)
  /// A sequence is asked for the next step.
  case asked(Int, after: ShownStep?, isCancelled: Bool)
  /// A sequence, or the closure of a modifier, has answered.
  case answered(Int, Answer)
  /// The closure of `map` or `then`, or the output of a sequence, is given this.
  case called(Int, ShownValue)
  /// What a closure or a body made of it.
  case closureEnded(Int, ShownOutcome)
  /// The closure of a modifier is told of an error, and maybe which attempt came to it.
  case calledWithError(Int, ShownError, attempt: Int?, isCancelled: Bool)
  /// The closure of `finally` is given the end of the operation.
  case finallyBegan(Int, ShownOutcome, isCancelled: Bool)
  /// It has done what was to be done.
  case finallyEnded(Int, isCancelled: Bool)
  /// A condition is asked. A run does not wait for it when it is cancelled.
  case conditionAsked(Int, Int, ticket: Int, isCancelled: Bool)
  /// A condition is about to answer.
  case conditionAnswered(ticket: Int, ConditionAnswer)
  /// A body begins that its run need not wait for.
  case abandonableBodyBegan(Int, ticket: Int, isCancelled: Bool)
  /// Such a body looked after a pause whether it is cancelled.
  case abandonableBodyCheckedCancellation(ticket: Int, isCancelled: Bool)
  /// Such a body is over.
  case abandonableBodyEnded(ticket: Int, ShownOutcome, isCancelled: Bool)
  /// A body learns how a child of it ended.
  case received(Int, child: Int, ShownOutcome, isCancelled: Bool)

  // MARK: From outside

  /// Somebody is about to cancel the run.
  case cancels
  /// The run has been cancelled.
  case cancelled

  /// What a condition makes of the question whether the body may begin.
  enum ConditionAnswer: Sendable, Equatable {
    case proceeds, skips
    case fails(ShownError)

    var error: ShownError? {
      if case .fails(let error) = self { error } else { nil }
    }
  }

  /// What a sequence answers.
  enum Answer: Sendable, Equatable {
    case child(Int)
    /// The operation that was the last one.
    case again
    case end
    case threw(ShownError)

    /// What the sequence threw, if it did.
    var error: ShownError? {
      if case .threw(let error) = self { error } else { nil }
    }
  }
}

extension Entry: CustomStringConvertible {
  var description: String {
    switch self {
    case .began(let node, let flag): "n\(node) began\(flag.note)"
    case .checkedCancellation(let node, let flag): "n\(node) looked\(flag.note)"
    case .ended(let node, let outcome, let flag): "n\(node) came to \(outcome)\(flag.note)"
    case .computationTimedOut(let node): "n\(node) computed in vain"
    case .discarded(let node, let value): "n\(node) discarded \(value)"
    case .made(let node, let child, let flag): "n\(node) made child \(child)\(flag.note)"
    case .sourceFailed(let node, let error, let flag):
      "n\(node)'s source threw \(error)\(flag.note)"
    case .asked(let node, let step, let flag):
      "n\(node) was asked after \(step.map { "\($0)" } ?? "nothing")\(flag.note)"
    case .answered(let node, let answer): "n\(node) answered \(answer)"
    case .called(let node, let value): "n\(node) was given \(value)"
    case .closureEnded(let node, let outcome): "n\(node) made of it \(outcome)"
    case .calledWithError(let node, let error, let attempt, let flag):
      "n\(node) was told of \(error)\(attempt.map { ", attempt \($0)" } ?? "")\(flag.note)"
    case .finallyBegan(let node, let outcome, let flag): "n\(node) saw \(outcome)\(flag.note)"
    case .finallyEnded(let node, let flag): "n\(node) ended its finally closure\(flag.note)"
    case .conditionAsked(let node, let index, let ticket, let flag):
      "n\(node) asked condition \(index), ticket \(ticket)\(flag.note)"
    case .conditionAnswered(let ticket, let answer): "ticket \(ticket): \(answer)"
    case .abandonableBodyBegan(let node, let ticket, let flag):
      "the loose body of n\(node) began, ticket \(ticket)\(flag.note)"
    case .abandonableBodyCheckedCancellation(let ticket, let flag):
      "ticket \(ticket) looked\(flag.note)"
    case .abandonableBodyEnded(let ticket, let outcome, let flag):
      "ticket \(ticket) came to \(outcome)\(flag.note)"
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
