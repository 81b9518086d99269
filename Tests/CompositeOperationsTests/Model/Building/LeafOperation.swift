import CompositeOperations

/// A leaf that is a type of its own.
struct LeafOperation: ComposableOperation {
  let node: Int
  let leaf: Tree.Leaf
  let recorder: Recorder

  var operationName: String { "n\(node)" }

  func perform(in context: OperationContext) async throws -> ShownValue {
    try await recorder.perform(leaf, of: node)
  }
}

extension Recorder {
  /// The maximum number of checks of a leaf that waits for its cancellation. On one worker, each
  /// check has an even chance to precede the task that delivers the cancellation, so this many
  /// checks are enough.
  static let maximumCancellationChecks = 64

  /// Performs the body of a leaf.
  func perform(_ leaf: Tree.Leaf, of node: Int) async throws -> ShownValue {
    let isFirstRun = beginsFirst(node)
    add { .began(node, isCancelled: $0) }
    let outcome = await outcome(of: leaf, node, isFirstRun) {
      .checkedCancellation(node, isCancelled: $0)
    }
    add { .ended(node, outcome, isCancelled: $0) }
    return try outcome.get()
  }

  /// Performs the body of a leaf that its run may abandon.
  func performAbandonable(_ leaf: Tree.Leaf, of node: Int) async throws -> ShownValue {
    let isFirstRun = beginsFirst(node)
    let ticket = number()
    add { .abandonableBodyBegan(node, ticket: ticket, isCancelled: $0) }
    let outcome = await outcome(of: leaf, node, isFirstRun) {
      .abandonableBodyCheckedCancellation(ticket: ticket, isCancelled: $0)
    }
    if leaf.waiting == .cancellation { await waitForCancellation(ofAbandoned: ticket) }
    add { .abandonableBodyEnded(ticket: ticket, outcome, isCancelled: $0) }
    return try outcome.get()
  }

  /// Waits until a body is cancelled if its run has already ended without it.
  private func waitForCancellation(ofAbandoned ticket: Int) async {
    let end = ContinuousClock.now + computationTimeout
    while isAbandoned(ticket), !Task.isCancelled {
      if ContinuousClock.now >= end { return add(.abandonedBodyWasNotCancelled(ticket: ticket)) }
      await Task.yield()
    }
  }

  private func outcome(
    of leaf: Tree.Leaf, _ node: Int, _ isFirstRun: Bool, check: (_ isCancelled: Bool) -> Entry
  ) async -> ShownOutcome {
    compute(leaf, at: node)
    let yields =
      switch leaf.waiting {
      case .yields(let yields): yields
      case .cancellation: Self.maximumCancellationChecks
      }
    for _ in 0..<yields {
      await Task.yield()
      let isCancelled = add(check)
      if isCancelled, leaf.noticesCancellation { return .error(.cancellation) }
      if isCancelled, leaf.waiting == .cancellation { break }
    }
    switch leaf.end {
    case .value: return .result(.number(number()))
    case .valueAfterError where !isFirstRun: return .result(.number(number()))
    case .error, .valueAfterError: return .error(.failure(number()))
    case .cancellation: return .error(.cancellation)
    case .interruption: return .error(.interruption(number()))
    }
  }

  /// Computes as the leaf describes, without suspending.
  private func compute(_ leaf: Tree.Leaf, at node: Int) {
    let isOver: () -> Bool
    switch leaf.computing {
    case nil: return
    case .ticks(let ticks): return clock.advance(by: ticks)
    case .untilBegun(let rival): isOver = { Task.isCancelled || self.hasBegun(rival) }
    case .untilCancelled: isOver = { Task.isCancelled }
    }
    let end = ContinuousClock.now + computationTimeout
    while !isOver() {
      if ContinuousClock.now < end { continue }
      return add(.computationTimedOut(node))
    }
  }

  /// Records the outcome of a closure or a body, and returns or throws it.
  func endClosure(as end: Tree.ClosureEnd, at node: Int) throws -> ShownValue {
    let outcome: ShownOutcome =
      switch end {
      case .value: .result(.number(number()))
      case .error: .error(.failure(number()))
      case .cancellation: .error(.cancellation)
      }
    add(.closureEnded(node, outcome))
    return try outcome.get()
  }
}
