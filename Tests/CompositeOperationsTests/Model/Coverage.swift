/// Counts the trees in which each situation occurred, so that a rule does not pass because no tree
/// exercised it.
struct Coverage {
  enum Situation: CaseIterable {
    case result, error, cancelled, neverBegan
    case lateValue, lateError, selfCancellation, discard
    case lateValuePassedOn, lateErrorPassedOn
    case recovery, secondRun, answerAfterCancellation, sourceError
    case attemptAgain, attemptOfOtherOperation, allAttemptsFailed, attemptCancelled
    case errorIgnored, errorRecovered, errorMapped, recoveryByOperation, fallback
    case fallbackOfList, laterFallback, allFallbacksFailed
    case resultSeen, errorSeen, cancellationSeen, cancelledDuringFinally
    case repetition, lastRepetition, timeout, longLoop
    case skip, noneMet, conditionAbandoned
    case tooLate, tooLateUnnoticed, bodyAbandoned, cancelledBodyAbandoned, delay, heldBackByRate
    case permitsHeldAbove, permitsInCycle, permitsLate
    case everyOrigin, failuresInOrderOfTime, unbegunChild, raceWonBySecond
  }

  private(set) var counts: [Situation: Int] = [:]

  mutating func add(_ report: ModelReport) {
    var seen: Set<Situation> = [report.outcome.situation]
    var begun: [Int: Int] = [:]
    var isCancelled = false
    for entry in report.entries {
      switch entry {
      case .began(let node, _):
        begun[node, default: 0] += 1
        if begun[node] == 2 { seen.insert(.secondRun) }
        if begun[node] == 100 { seen.insert(.longLoop) }
      case .ended(_, .result(let value), let isLate):
        if isLate { seen.insert(.lateValue) }
        if case .steps(let steps) = value, steps.dropLast().contains(where: \.outcome.isError) {
          seen.insert(.recovery)
        }
      case .ended(_, .error(let error), let isLate):
        if isLate, case .failure = error { seen.insert(.lateError) }
        if !isLate, error == .cancellation { seen.insert(.selfCancellation) }
        if case .parallel(let parallelError) = error { seen.formUnion(parallelError.situations) }
        if case .late(let late) = error {
          seen.insert(late.isResult ? .lateValuePassedOn : .lateErrorPassedOn)
        }
      case .discarded: seen.insert(.discard)
      case .sourceFailed: seen.insert(.sourceError)
      case .answered: if isCancelled { seen.insert(.answerAfterCancellation) }
      case .cancelled: isCancelled = true
      case .ended, .checkedCancellation, .made, .asked, .called, .closureEnded, .calledWithError,
        .finallyBegan, .finallyEnded, .computationTimedOut, .conditionAsked, .conditionAnswered,
        .abandonableBodyBegan, .abandonableBodyCheckedCancellation, .abandonedBodyWasNotCancelled,
        .abandonableBodyEnded,
        .received, .cancels:
        break
      }
    }
    seen.formUnion(report.situationsOfModifiers)
    if begun.isEmpty { seen.insert(.neverBegan) }
    if report.isRaceWonBySecond { seen.insert(.raceWonBySecond) }
    for situation in seen { counts[situation, default: 0] += 1 }
  }
}

extension ShownOutcome? {
  fileprivate var situation: Coverage.Situation {
    switch self {
    case .result: .result
    case .error: .error
    case .cancelled, nil: .cancelled
    }
  }
}

extension ShownParallelError {
  fileprivate var situations: Set<Coverage.Situation> {
    var situations: Set<Coverage.Situation> = []
    let origins = Set(children.map(\.origin))
    if origins.contains(.neverBegan) { situations.insert(.unbegunChild) }
    if origins.count == 3 { situations.insert(.everyOrigin) }
    if failures != failures.sorted() { situations.insert(.failuresInOrderOfTime) }
    return situations
  }
}

extension ModelReport {
  /// Whether the outermost operation is a race that another contender than the first one won.
  fileprivate var isRaceWonBySecond: Bool {
    guard case .race(_, let contenders) = modelCase.tree.kind, case .result(let value) = outcome,
      let first = contenders.first
    else { return false }
    return !entries.contains(.ended(first.id, .result(value), isCancelled: false))
  }
}
