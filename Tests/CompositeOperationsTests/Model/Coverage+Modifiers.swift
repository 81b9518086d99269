extension ModelReport {
  /// The situations of modifiers in this case.
  var situationsOfModifiers: Set<Coverage.Situation> {
    let places = Place.all(of: modelCase.tree)
    func modifier(_ node: Int?) -> Tree.Modifier? {
      guard let node, case .modified(let modifier, _) = places[node]?.node.kind else { return nil }
      return modifier
    }
    var seen: Set<Coverage.Situation> = []
    var isInFinally = false
    /// The node that began last.
    var last: Int?
    var conditions: [Int: Int] = [:]
    var abandonableBodies: [Int: Int] = [:]
    /// Whether the run that ended last had been cancelled.
    var isLastCancelled = false
    for entry in entries {
      defer {
        if case .ended(_, _, let isCancelled) = entry { isLastCancelled = isCancelled }
      }
      switch entry {
      case .began(let node, _):
        guard let place = places[node] else { continue }
        if last != place.parent, let late = modifier(place.parent)?.situationAsFirstBeginsLate {
          seen.insert(late)
        }
        last = node
        if place.index == 0 { continue }
        seen.formUnion(modifier(place.parent)?.situations(as: place.index) ?? [])
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
        seen.insert(.conditionAbandoned)
      case .ended(let node, .error(.cancellation), _) where abandonableBodies.values.contains(node):
        seen.insert(.cancelledBodyAbandoned)
      case .ended(_, .error(.permits(_, let isHeldAbove)), _):
        seen.insert(isHeldAbove ? .permitsHeldAbove : .permitsInCycle)
      case .abandonableBodyBegan(let node, let ticket, _): abandonableBodies[ticket] = node
      case .abandonableBodyEnded(let ticket, _, _): abandonableBodies[ticket] = nil
      case .ended(let node, .error(.timeout), _):
        seen.insert(.timeout)
        if case .timingOut(.ticks) = modifier(node) {
          seen.insert(.tooLate)
          if !isLastCancelled { seen.insert(.tooLateUnnoticed) }
        }
        if abandonableBodies.values.contains(node) { seen.insert(.bodyAbandoned) }
      case .ended(_, .error(.retry(let errors, let isCancelled)), _):
        if errors.count > 1 { seen.insert(.allAttemptsFailed) }
        if isCancelled { seen.insert(.attemptCancelled) }
      case .ended(let node, .error(.failure), isCancelled: false):
        guard case .recovering(let recovering) = modifier(node), recovering.isList,
          let last = last.flatMap({ places[$0] }), last.parent == node, last.index > 0
        else { continue }
        // The last operation of the list, because a failure of another one is discarded.
        seen.insert(.allFallbacksFailed)
      case .ended(let node, .result(let value), _):
        if value == Tree.Recovering.substitute(at: node) { seen.insert(.errorIgnored) }
      case .closureEnded(let node, let outcome):
        guard case .recovering = modifier(node) else { continue }
        seen.insert(outcome.isResult ? .errorRecovered : .errorMapped)
      case .finallyBegan(_, let outcome, _):
        seen.insert(outcome.situationAtEnd)
        isInFinally = true
      case .finallyEnded: isInFinally = false
      case .cancelled: if isInFinally { seen.insert(.cancelledDuringFinally) }
      case .checkedCancellation, .ended, .computationTimedOut, .discarded, .made, .sourceFailed,
        .asked, .answered, .called, .calledWithError, .abandonableBodyCheckedCancellation,
        .abandonedBodyWasNotCancelled,
        .received, .cancels:
        break
      }
    }
    return seen
  }
}

extension Tree.Modifier {
  /// The situations in which another operation of the modifier than the first one begins.
  fileprivate func situations(as index: Int) -> Set<Coverage.Situation> {
    switch self {
    case .retrying: [.attemptOfOtherOperation]
    case .recovering(let recovering):
      switch recovering.way {
      case .fallingBack: [.fallback]
      case .fallingBackToList: [index == 1 ? .fallbackOfList : .laterFallback]
      case .value, .operation, .otherError, .ignoring: [.recoveryByOperation]
      }
    case .finally, .repeating, .timingOut, .delayed, .throttled, .requiring, .taking: []
    }
  }

  /// The situation in which another node began between the modifier and its first operation.
  fileprivate var situationAsFirstBeginsLate: Coverage.Situation? {
    switch self {
    case .taking: .permitsLate
    case .delayed: .delay
    case .throttled: .heldBackByRate
    case .retrying, .recovering, .finally, .repeating, .timingOut, .requiring: nil
    }
  }
}

extension ShownOutcome {
  /// The situation in which a closure of `finally` receives this outcome.
  fileprivate var situationAtEnd: Coverage.Situation {
    switch self {
    case .result: .resultSeen
    case .error: .errorSeen
    case .cancelled: .cancellationSeen
    }
  }
}
