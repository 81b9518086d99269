// Sequential composites: S1 to S7.

extension Oracle {
  /// The sequence is called first (S1) and between steps (S4), but not after the cancellation.
  mutating func asked(_ run: NodeRun, after step: ShownStep?, _ isCancelled: Bool) {
    checkedCancellation(run, isCancelled)
    let name = "n\(run.place.node.id)"
    checkIsNotCancelled(run, isCancelled)
    expect(run.liveChildren == 0, "S4: \(name) was called while a step was running")
    expect(
      run.questions == run.children.count, "S1: \(name) was called twice, or after its end")
    if let last = run.lastChild {
      expect(
        step?.index == run.children.count - 1 && step?.name == last.place.name,
        "S1: \(name) received \(step.map { "\($0)" } ?? "nothing")")
      settle(last, as: step?.outcome ?? .cancelled)
    } else {
      expect(step == nil, "S1: \(name) was not called with nil first")
    }
    run.questions += 1
    run.answer = nil
  }

  mutating func checkMayBeginStep(
    _ run: NodeRun, of steps: Tree.Steps, _ count: Int, _ parent: NodeRun
  ) {
    let name = "n\(parent.place.node.id)"
    checkIsNotCancelled(parent, parent.isKnownCancelled)
    expect(parent.liveChildren == 0, "S4: two steps of \(name) overlap")
    if let last = parent.lastChild { settle(last) }
    expect(
      run.place.index == nextStep(of: steps, count, parent),
      "S2, S7: operation \(run.place.index) of \(name) was not its next step")
    parent.answer = nil
  }

  /// S4: after a cancellation that a step has observed, the sequence is not called again.
  private mutating func checkIsNotCancelled(_ run: NodeRun, _ isCancelled: Bool) {
    let sawCancellation =
      order == .total ? isCancelled : run.lastChild?.end?.isCancelled == true
    expect(!sawCancellation, "S4: n\(run.place.node.id) continued after its cancellation")
  }

  /// The index of the operation that must begin next, by the rule of the linear sequence (S7) or by
  /// the answer of the sequence; nil at the end.
  private func nextStep(of steps: Tree.Steps, _ count: Int, _ run: NodeRun) -> Int? {
    let begun = run.children.count
    let last = run.lastChild?.outcome
    switch steps {
    case .linear: return last?.isResult != false && begun < count ? begun : nil
    case .built, .delegate:
      if case .child(let index) = run.answer { return index }
      return nil
    }
  }

  // MARK: The end

  mutating func checkSequenceOutcome(
    _ body: ShownOutcome, _ steps: Tree.Steps, _ count: Int, _ run: NodeRun
  ) {
    let name = "n\(run.place.node.id)"
    if let last = run.lastChild { settle(last, as: body.shownLastStep(of: run)) }
    let begun = run.children.enumerated().map { index, child in
      ShownStep(index: index, name: child.place.name, outcome: child.outcome ?? .cancelled)
    }
    let kept = Array(begun.suffix(steps.history))
    let cancelled = ShownOutcome.error(.sequential(cause: run.answer?.error, steps: kept))
    let isOver = isOver(steps, count, run)
    // A step that code of the sequence has received belongs to it, but the cause of the composite.
    let isCause =
      run.lastChild?.outcome?.isError == true && run.answer?.error == nil && body.cause != nil
    let received = max(0, run.questions - 1)
    run.held = run.children.suffix(max(begun.count - received, isCause ? 1 : 0)).carried
    if run.end?.isCancelled != true {
      expect(isOver, "S1: \(name) ended before its sequence did")
      let expected = naturalEnd(of: steps, keeping: kept, run)
      expect(body == expected, "S3, S6: \(name) ended as \(body), expected \(expected)")
    } else if order == .partial, let step = stepThatNeverBegan(of: steps, count, run),
      body == .error(.sequential(cause: nil, steps: (begun + [step]).suffix(steps.history)))
    {
      // Nothing to compare.
    } else {
      let expected =
        order == .partial && isOver && body != cancelled
        ? naturalEnd(of: steps, keeping: kept, run) : cancelled
      expect(
        body == expected, "S4: \(name) was cancelled and ended as \(body), expected \(expected)")
    }
    // A step that is not kept may have been cancelled after the last check of its body.
    if order == .partial, steps.history == 0, !body.isResult, let last = run.lastChild {
      allowDiscards(of: last.discardableValues)
    }
  }

  /// The step that was about to begin when the composite was cancelled. With several workers, the
  /// composite can show it although it never began.
  private func stepThatNeverBegan(
    of steps: Tree.Steps, _ count: Int, _ run: NodeRun
  ) -> ShownStep? {
    guard let next = nextStep(of: steps, count, run),
      let place = place(ofChild: next, of: run.place.node.id)
    else { return nil }
    return ShownStep(index: run.children.count, name: place.name, outcome: .cancelled)
  }

  /// Whether the sequence has ended or thrown.
  private func isOver(_ steps: Tree.Steps, _ count: Int, _ run: NodeRun) -> Bool {
    switch (steps, run.answer) {
    case (_, .end), (_, .threw): true
    case (.delegate, _): false
    case (.built, _): run.lastChild?.outcome?.isResult == false || run.children.count == count
    case (.linear, _): nextStep(of: steps, count, run) == nil
    }
  }

  /// S3 and S6: the last step decides, unless the sequence threw (S2).
  private mutating func naturalEnd(
    of steps: Tree.Steps, keeping kept: [ShownStep], _ run: NodeRun
  ) -> ShownOutcome {
    if case .threw(let error) = run.answer { return .error(.sequential(cause: error, steps: kept)) }
    switch run.lastChild?.outcome {
    case .error(let error): return .error(.sequential(cause: error, steps: kept))
    case .cancelled: return .error(.sequential(cause: nil, steps: kept))
    case .result, nil: break
    }
    guard steps.hasOutput else { return .result(.steps(kept)) }
    expect(run.called == .steps(kept), "S6: the output was created from other steps than \(kept)")
    if case .error(let error) = run.closureOutcome {
      return .error(.sequential(cause: error, steps: kept))
    }
    return run.closureOutcome ?? .cancelled
  }

}

extension Tree.Steps {
  /// The number of finished steps that are kept (S5).
  fileprivate var history: Int {
    switch self {
    case .linear, .built: .max
    case .delegate(let delegate): delegate.history ?? .max
    }
  }

  /// Whether the sequence creates the result of the composite.
  fileprivate var hasOutput: Bool {
    if case .delegate(let delegate) = self { delegate.output != nil } else { false }
  }
}

extension ShownOutcome {
  /// The cause in the error of a sequential composite.
  fileprivate var cause: ShownError? {
    if case .error(.sequential(let cause, _)) = self { cause } else { nil }
  }

  /// The outcome of the last step, as a sequential composite with this outcome shows it; nil if it
  /// does not.
  fileprivate func shownLastStep(of run: NodeRun) -> ShownOutcome? {
    let shown: [ShownStep]
    switch self {
    case .result(.steps(let steps)), .error(.sequential(_, let steps)): shown = steps
    case .result, .error, .cancelled: return nil
    }
    return shown.last { $0.index == run.children.count - 1 }?.outcome
  }
}
