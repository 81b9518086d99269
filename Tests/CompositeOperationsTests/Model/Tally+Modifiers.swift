extension Verdict {
  /// What happened that has to do with modifiers.
  var happeningsOfModifiers: Set<Tally.Happening> {
    let places = Place.all(of: trial.tree)
    func modifier(_ node: Int?) -> Tree.Modifier? {
      guard let node, case .modified(let modifier, _) = places[node]?.node.kind else { return nil }
      return modifier
    }
    var seen: Set<Tally.Happening> = []
    var isTidying = false
    /// Who began last.
    var last: Int?
    var conditions: [Int: Int] = [:]
    var loose: [Int: Int] = [:]
    /// Whether the last run to end had been cancelled.
    var isLastCancelled = false
    for entry in entries {
      defer {
        if case .ended(_, _, let isCancelled) = entry { isLastCancelled = isCancelled }
      }
      switch entry {
      case .began(let node, _):
        guard let place = places[node] else { continue }
        if last != place.parent, let late = modifier(place.parent)?.happeningAsFirstBeginsLate {
          seen.insert(late)
        }
        last = node
        if place.index != 1 { continue }
        seen.formUnion(modifier(place.parent)?.happeningsAsSecondBegins ?? [])
      case .answered(let node, .again):
        switch modifier(node) {
        case .retrying: seen.insert(.attemptAgain)
        case .repeating: seen.insert(.repetition)
        case .recovering, .finally, .timingOut, .delayed, .throttled, .requiring, .taking, nil:
          break
        }
      case .answered(let node, .end):
        if case .repeating = modifier(node) { seen.insert(.lastRepetition) }
      case .conditionAsked(let node, _, let ticket, _): conditions[ticket] = node
      case .conditionAnswered(let ticket, _): conditions[ticket] = nil
      case .ended(_, .error(.skipped), _): seen.insert(.skip)
      case .ended(_, .error(.noneMet), _): seen.insert(.noneMet)
      case .ended(let node, .error(.cancellation), _) where conditions.values.contains(node):
        seen.insert(.conditionLeftBehind)
      case .ended(let node, .error(.cancellation), _) where loose.values.contains(node):
        seen.insert(.cancelledBodyLeftBehind)
      case .ended(_, .error(.permits(_, let isHeldAbove)), _):
        seen.insert(isHeldAbove ? .permitsHeldAbove : .permitsInCircle)
      case .looseBegan(let node, let ticket, _): loose[ticket] = node
      case .looseEnded(let ticket, _, _): loose[ticket] = nil
      case .ended(let node, .error(.timeout), _):
        seen.insert(.timeout)
        if case .timingOut(.moments) = modifier(node) {
          seen.insert(.tooLate)
          if !isLastCancelled { seen.insert(.tooLateUnnoticed) }
        }
        if loose.values.contains(node) { seen.insert(.bodyLeftBehind) }
      case .ended(_, .error(.retry(let errors, let isCancelled)), _):
        if errors.count > 1 { seen.insert(.attemptsInVain) }
        if isCancelled { seen.insert(.attemptCancelled) }
      case .ended(let node, .result(let value), _):
        if value == Tree.Recovering.substitute(at: node) { seen.insert(.errorIgnored) }
      case .came(let node, let outcome):
        guard case .recovering = modifier(node) else { continue }
        seen.insert(outcome.isResult ? .errorRecovered : .errorMapped)
      case .sawEnd(_, let outcome, _):
        seen.insert(outcome.happeningAtEnd)
        isTidying = true
      case .tidied: isTidying = false
      case .cancelled: if isTidying { seen.insert(.cancelledWhileTidying) }
      case .looked, .ended, .computedInVain, .discarded, .made, .sourceFailed, .asked, .answered,
        .called, .failed,
        .looseLooked, .received, .cancels:
        break
      }
    }
    return seen
  }
}

extension Tree.Modifier {
  /// What happens when the second of its operations begins.
  fileprivate var happeningsAsSecondBegins: Set<Tally.Happening> {
    switch self {
    case .retrying: [.attemptOfAnother]
    case .recovering(let recovering):
      recovering.way == .fallingBack ? [.fallback] : [.recoveryByAnother]
    case .finally, .repeating, .timingOut, .delayed, .throttled, .requiring, .taking: []
    }
  }

  /// What has happened when something did before the first of its operations began.
  fileprivate var happeningAsFirstBeginsLate: Tally.Happening? {
    switch self {
    case .taking: .permitsLate
    case .delayed: .delay
    case .throttled: .heldBackByRate
    case .retrying, .recovering, .finally, .repeating, .timingOut, .requiring: nil
    }
  }
}

extension ShownOutcome {
  /// What happens when a closure of `finally` sees it.
  fileprivate var happeningAtEnd: Tally.Happening {
    switch self {
    case .result: .resultSeen
    case .error: .errorSeen
    case .cancelled: .cancellationSeen
    }
  }
}
