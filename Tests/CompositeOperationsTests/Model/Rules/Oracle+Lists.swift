// Parallel composites: P1 to P6.

extension Oracle {
  mutating func checkMayBegin(
    _ run: NodeRun, in list: Tree.List, _ parent: NodeRun, _ isFirstTime: Bool
  ) {
    let index = run.place.index
    let name = "child \(index) of n\(parent.place.node.id)"
    expect(isFirstTime, "P3: \(name) ran twice")
    // With several workers the child may have been taken before the cancellation.
    expect(
      order == .partial && list.width != 1 || parent.stop == nil,
      "P3: \(name) began after a sibling had cancelled the others")
    if list.isLazy { expect(index < parent.made, "P6: \(name) began before it was created") }
    guard let width = list.width else { return }
    expect(parent.liveChildren < width, "P5: \(name) began when \(width) children were in flight")
    let turn = parent.children.count
    // With several workers a child can begin before children that were taken earlier and are in
    // flight. Their number is below the limit.
    let isInTurn = order == .total ? index == turn : index - turn < width
    expect(isInTurn, "P5: \(name) began as number \(turn)")
  }

  mutating func made(_ child: Int, for run: NodeRun, _ isCancelled: Bool) {
    guard case .list(let list, _) = run.place.node.kind else { return }
    expect(child == run.made, "P6: child \(child) was created as number \(run.made)")
    run.made += 1
    checkMayMakeChild(run, isCancelled)
    if let width = list.width {
      expect(
        run.made - run.children.count { !$0.isLive } <= width,
        "P6: a child was created without a free place")
    }
  }

  mutating func sourceFailed(with error: ShownError, for run: NodeRun, _ isCancelled: Bool) {
    checkMayMakeChild(run, isCancelled)
    run.sourceError = error
    if case .list(let list, _) = run.place.node.kind, !list.runsAll { run.stop = run.stop ?? now }
  }

  private mutating func checkMayMakeChild(_ run: NodeRun, _ isCancelled: Bool) {
    expect(
      order == .partial || !isCancelled && run.stop == nil,
      "P3: n\(run.place.node.id) requested a child that could not begin")
  }

  // MARK: The end

  mutating func checkListOutcome(
    _ body: ShownOutcome, _ list: Tree.List, _ count: Int, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    // The children of a lazy list are those that began. With several workers it can also show
    // children that were created and cancelled before they began.
    let shown =
      !list.isLazy
      ? count...count
      : run.children
        .count...(order == .total ? run.children.count : max(run.made, run.children.count))
    checkOmittedChildren(count - run.children.count, run)
    switch body {
    case .result(.list(let values)) where !list.collectsOutcomes:
      expect(values.count == count, "P1: \(name) has \(values.count) results of \(count) children")
      for (index, value) in values.enumerated() {
        if let child = run.child(index) { settle(child, as: .result(value)) }
      }
    case .result(.outcomes(let outcomes)) where list.collectsOutcomes:
      expect(shown.contains(outcomes.count), "P3: \(name) has \(outcomes.count) outcomes")
      for (index, outcome) in outcomes.enumerated() {
        if let child = run.child(index) {
          settle(child, as: outcome)
        } else {
          expect(
            outcome == .cancelled,
            "P3: child \(index) of \(name) never began, but has the outcome \(outcome)")
        }
      }
    case .error(.parallel(let parallelError)):
      checkParallelError(parallelError, of: shown, run)
      expect(
        !list.collectsOutcomes || parallelError.source != nil,
        "P3: \(name) failed instead of collecting outcomes")
      let isComplete =
        run.children.count == count && run.children.allSatisfy { $0.outcome?.isResult == true }
      // The source of a cancelled list may not have reported its end yet.
      let isOpen = parallelError.source != nil || list.isLazy && run.end?.isCancelled == true
      expect(!isComplete || isOpen, "P2: \(name) has every result, but ended as \(body)")
    case .error(.cancellation) where order == .partial && run.children.isEmpty:
      // The list was cancelled after it began, and before its first child began.
      expect(run.isKnownCancelled, "P2: \(name) stopped without a cancellation")
    case .result, .error, .cancelled: expect(false, "\(name) cannot end as \(body)")
    }
    run.held = run.children.carried
  }

  /// P4: the error contains every child in order, with its outcome and origin.
  mutating func checkParallelError(
    _ parallelError: ShownParallelError, of count: ClosedRange<Int>, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    expect(
      count.contains(parallelError.children.count),
      "P4: \(name) does not show \(count) children: \(parallelError)")
    for (index, shown) in parallelError.children.enumerated() {
      let child = run.child(index)
      expect(shown.index == index, "P4: \(name) shows child \(shown.index) at index \(index)")
      let place = child?.place ?? self.place(ofChild: index, of: run.place.node.id)
      // A child that was created lazily and has a result is shown by its type.
      let isKnown = !run.isLazyList || !shown.outcome.isResult
      let expectedName = isKnown ? place?.name : "AnyOperation<ShownValue>"
      expect(shown.name == expectedName, "P4: child \(index) of \(name) is called \(shown.name)")
      if let child { settle(child, as: shown.outcome) }
      expect(
        child != nil || shown.outcome == .cancelled, "P4: \(name) shows \(shown), which never began"
      )
      expect(
        origins(of: child).contains(shown.origin), "P4: \(name) shows the wrong origin: \(shown)")
    }
    checkFailures(parallelError, run)
    // With several workers the source can fail after the list has been cancelled.
    let isCancelled =
      run.end?.isCancelled == true || run.children.contains { $0.outcome?.isResult != true }
    let mayHideSource = order == .partial && isCancelled && parallelError.source == nil
    expect(
      parallelError.source == run.sourceError || mayHideSource,
      "P6: \(name) does not show \(run.sourceError.map { "\($0)" } ?? "no error") of its source")
  }

  /// The possible origins of the outcome of a child.
  private func origins(of child: NodeRun?) -> [ShownParallelError.Origin] {
    guard let child, let end = child.end else {
      // With several workers the list can be cancelled when the child is about to begin.
      return order == .total ? [.neverBegan] : [.neverBegan, .composite]
    }
    if child.outcome != .cancelled { return [.itself] }
    if end.isCancelled { return [.composite] }
    if order == .total { return [.itself] }
    return presumedOutcome(of: child) == .cancelled ? [.itself, .composite] : [.composite]
  }

  /// P4: the failures are the children that ended in an error, in order of time, with one line
  /// each.
  private mutating func checkFailures(_ parallelError: ShownParallelError, _ run: NodeRun) {
    let failed = run.children.filter { $0.outcome?.isError == true }
      .sorted { ($0.end?.time ?? 0) < ($1.end?.time ?? 0) }
    let expected = failed.map(\.place.index)
    // With several workers failures can be recorded in another order than the ends of the bodies.
    let isInOrder = order == .total || run.isSerial ? parallelError.failures == expected : true
    expect(
      isInOrder && parallelError.failures.sorted() == expected.sorted(),
      "P4: n\(run.place.node.id) shows the failures \(parallelError.failures), expected \(expected)"
    )
    let lines = parallelError.failures.compactMap { index in
      run.child(index).map { "[\(index)] \($0.place.name)" }
    }
    expect(
      Array(parallelError.lines.prefix(lines.count)) == lines,
      "P4: n\(run.place.node.id) describes its failures by \(parallelError.lines)")
  }

  func place(ofChild index: Int, of parent: Int) -> Place? {
    places.values.first { $0.parent == parent && $0.index == index }
  }
}

extension NodeRun {
  /// Whether the list creates its children while it runs.
  fileprivate var isLazyList: Bool {
    if case .list(let list, _) = place.node.kind { list.isLazy } else { false }
  }

  /// Whether the children run one at a time.
  fileprivate var isSerial: Bool {
    if case .list(let list, _) = place.node.kind { list.width == 1 } else { false }
  }
}
