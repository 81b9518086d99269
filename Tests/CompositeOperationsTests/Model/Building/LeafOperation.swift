import CompositeOperations

/// A leaf as a type of its own.
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
  /// How often a leaf looks that waits for its cancellation. On one worker every look is a toss-up
  /// between the leaf and whoever brings it the cancellation, so many looks are never in vain.
  static let maximumCancellationChecks = 64

  /// What a leaf does.
  func perform(_ leaf: Tree.Leaf, of node: Int) async throws -> ShownValue {
    let isFirstRun = beginsFirst(node)
    add { .began(node, isCancelled: $0) }
    let outcome = await outcome(of: leaf, node, isFirstRun) {
      .checkedCancellation(node, isCancelled: $0)
    }
    add { .ended(node, outcome, isCancelled: $0) }
    return try outcome.get()
  }

  /// What a leaf does that its run need not wait for.
  func performAbandonable(_ leaf: Tree.Leaf, of node: Int) async throws -> ShownValue {
    let isFirstRun = beginsFirst(node)
    let ticket = number()
    add { .abandonableBodyBegan(node, ticket: ticket, isCancelled: $0) }
    let outcome = await outcome(of: leaf, node, isFirstRun) {
      .abandonableBodyCheckedCancellation(ticket: ticket, isCancelled: $0)
    }
    add { .abandonableBodyEnded(ticket: ticket, outcome, isCancelled: $0) }
    return try outcome.get()
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

  /// Does what a leaf does without suspending.
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

  /// What a closure makes of something, which it notes.
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
