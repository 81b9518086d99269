/// Counts in how many trees something happened, so that trees that try nothing do not pass for
/// rules that hold.
struct Tally {
  enum Happening: CaseIterable {
    case result, error, cancelled, neverBegan
    case lateValue, lateError, selfCancellation, discard
    case lateValueHandedOn, lateErrorHandedOn
    case recovery, secondRun, answerAfterCancellation, sourceError
    case attemptAgain, attemptOfAnother, attemptsInVain, attemptCancelled
    case errorIgnored, errorRecovered, errorMapped, recoveryByAnother, fallback
    case resultSeen, errorSeen, cancellationSeen, cancelledWhileTidying
    case repetition, lastRepetition, timeout, longLoop
    case skip, noneMet, conditionLeftBehind
    case tooLate, tooLateUnnoticed, bodyLeftBehind, cancelledBodyLeftBehind, delay, heldBackByRate
    case permitsHeldAbove, permitsInCircle, permitsLate
    case everyOrigin, failuresInOrderOfTime, unbegunChild, raceWonBySecond
  }

  private(set) var counts: [Happening: Int] = [:]

  mutating func add(_ verdict: Verdict) {
    var seen: Set<Happening> = [verdict.outcome.happening]
    var begun: [Int: Int] = [:]
    var isCancelled = false
    for entry in verdict.entries {
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
        if case .parallel(let evidence) = error { seen.formUnion(evidence.happenings) }
        if case .late(let late) = error {
          seen.insert(late.isResult ? .lateValueHandedOn : .lateErrorHandedOn)
        }
      case .discarded: seen.insert(.discard)
      case .sourceFailed: seen.insert(.sourceError)
      case .answered: if isCancelled { seen.insert(.answerAfterCancellation) }
      case .cancelled: isCancelled = true
      case .ended, .looked, .made, .asked, .called, .came, .failed, .sawEnd, .tidied,
        .computedInVain, .conditionAsked, .conditionAnswered, .looseBegan, .looseLooked,
        .looseEnded, .received,
        .cancels:
        break
      }
    }
    seen.formUnion(verdict.happeningsOfModifiers)
    if begun.isEmpty { seen.insert(.neverBegan) }
    if verdict.isRaceWonBySecond { seen.insert(.raceWonBySecond) }
    for happening in seen { counts[happening, default: 0] += 1 }
  }
}

extension ShownOutcome? {
  fileprivate var happening: Tally.Happening {
    switch self {
    case .result: .result
    case .error: .error
    case .cancelled, nil: .cancelled
    }
  }
}

extension ShownEvidence {
  fileprivate var happenings: Set<Tally.Happening> {
    var happenings: Set<Tally.Happening> = []
    let origins = Set(children.map(\.origin))
    if origins.contains(.neverBegan) { happenings.insert(.unbegunChild) }
    if origins.count == 3 { happenings.insert(.everyOrigin) }
    if failures != failures.sorted() { happenings.insert(.failuresInOrderOfTime) }
    return happenings
  }
}

extension Verdict {
  /// Whether the outermost operation is a race that the first contender did not win.
  fileprivate var isRaceWonBySecond: Bool {
    guard case .race(_, let contenders) = trial.tree.kind, case .result(let value) = outcome,
      let first = contenders.first
    else { return false }
    return !entries.contains(.ended(first.id, .result(value), isCancelled: false))
  }
}
