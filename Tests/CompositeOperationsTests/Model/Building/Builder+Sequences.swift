import CompositeOperations

extension Builder {
  func sequence(_ steps: Tree.Steps, of children: [Tree], at node: Int) -> AnyShown {
    let operations = children.map { operation($0) }
    switch steps {
    case .linear:
      return recorded(SequentialOperation(.linear(operations)), at: node) { .steps($0.shown) }
    case .built(let endsAt):
      return recorded(built(operations, endsAt: endsAt, at: node), at: node) { .steps($0.shown) }
    case .delegate(let delegate):
      let script = DelegateScript(
        delegate: delegate, node: node, operations: operations, recorder: recorder)
      return delegate.output == nil
        ? recorded(SequentialOperation(ScriptedSequence(script: script)), at: node) {
          .steps($0.shown)
        } : recorded(SequentialOperation(ScriptedSequenceWithOutput(script: script)), at: node)
    }
  }

  private func built(
    _ operations: [AnyShown], endsAt: Int?, at node: Int
  ) -> SequentialOperation<LinearSequence> {
    let builders: [LinearSequence.Builder] = operations.enumerated().map { index, operation in
      { [recorder] previous in
        recorder.add {
          .asked(node, after: previous.map { ShownStep($0) }, isCancelled: $0)
        }
        recorder.add(.answered(node, index == endsAt ? .end : .child(index)))
        return index == endsAt ? nil : operation
      }
    }
    let sequence =
      switch builders.count {
      case 1: LinearSequence(builders[0])
      case 2: LinearSequence(builders[0], builders[1])
      default: LinearSequence(builders[0], builders[1], builders[2])
      }
    return SequentialOperation(sequence)
  }
}

/// A sequence that records its calls and decisions.
struct ScriptedSequence: OperationSequence {
  var script: DelegateScript

  var history: StepHistory { script.history }

  mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)? {
    try await script.nextOperation(after: previous)
  }
}

/// A sequence that also creates the result of the composite.
struct ScriptedSequenceWithOutput: OperationSequence {
  var script: DelegateScript

  var history: StepHistory { script.history }

  mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)? {
    try await script.nextOperation(after: previous)
  }

  func output(of steps: FinishedSteps) throws -> ShownValue { try script.output(of: steps) }
}

struct DelegateScript: Sendable {
  let delegate: Tree.Delegate
  let node: Int
  let operations: [AnyShown]
  let recorder: Recorder
  private var begun = 0
  private var questions = 0

  init(delegate: Tree.Delegate, node: Int, operations: [AnyShown], recorder: Recorder) {
    self.delegate = delegate
    self.node = node
    self.operations = operations
    self.recorder = recorder
  }

  var history: StepHistory { delegate.history.map { StepHistory.last($0) } ?? .all }

  mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)? {
    recorder.add { [node] in
      .asked(node, after: previous.map { ShownStep($0) }, isCancelled: $0)
    }
    for _ in 0..<delegate.yields { await Task.yield() }
    defer { questions += 1 }
    if questions == delegate.throwsAt {
      let error: any Error =
        delegate.throwsCancellation
        ? CancellationError() : NumberedError(number: recorder.number())
      recorder.add(.answered(node, .threw(ShownError(error))))
      throw error
    }
    if isOver(after: previous) {
      recorder.add(.answered(node, .end))
      return nil
    }
    recorder.add(.answered(node, .child(begun)))
    defer { begun += 1 }
    return operations[begun]
  }

  private func isOver(after previous: FinishedStep?) -> Bool {
    if begun == operations.count || begun == delegate.endsAfter { return true }
    if previous?.error != nil { return !delegate.recovers }
    return previous?.isCancelled == true && !delegate.continuesAfterCancellation
  }

  func output(of steps: FinishedSteps) throws -> ShownValue {
    recorder.add(.called(node, .steps(steps.shown)))
    return try recorder.endClosure(as: delegate.output ?? .value, at: node)
  }
}
