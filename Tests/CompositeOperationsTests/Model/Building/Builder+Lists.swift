import CompositeOperations

extension Tree.List {
  var operationWidth: OperationWidth {
    switch width {
    case nil: .adaptive
    case 1: .serial
    case .some(let limit): .limited(to: limit)
    }
  }

  var failureMode: FailureMode? { explicitRunsAll.map { $0 ? .runAll : .cancelRemaining } }
}

extension Builder {
  func parallel(_ list: Tree.List, of children: [Tree], at node: Int) -> AnyShown {
    let width = list.operationWidth
    let mode = list.failureMode
    let operations = children.map { operation($0) }
    switch list.form {
    case .uniform:
      return uniform(list, of: children, operations, at: node)
    case .mixed:
      return shown(
        list, ParallelOperation(operations, width: width, onFailure: mode), at: node)
    case .made:
      let made = MadeChildren(node: node, operations: operations, recorder: recorder)
      return shown(list, ParallelOperation(width: width, onFailure: mode) { made }, at: node)
    case .arriving(let failsAt):
      let arriving = ArrivingChildren(
        made: MadeChildren(node: node, operations: operations, recorder: recorder),
        failsAt: failsAt)
      return shown(list, ParallelOperation(width: width, onFailure: mode) { arriving }, at: node)
    case .pack where operations.count == 2:
      return pair(list, operations[0], operations[1], at: node)
    case .pack:
      return triple(list, operations[0], operations[1], operations[2], at: node)
    }
  }

  func race(_ children: [Tree], isUniform: Bool, at node: Int) -> AnyShown {
    let operations = children.map { operation($0) }
    if let leaves = operations as? [LeafOperation] {
      return recorded(RaceOperation(leaves), at: node)
    }
    return isUniform
      ? recorded(RaceOperation(operations.map { AnyOperation($0) }), at: node)
      : recorded(RaceOperation(operations), at: node)
  }

  // MARK: Kinds of lists

  /// Leaves keep their type, and other operations are type-erased.
  private func uniform(
    _ list: Tree.List, of children: [Tree], _ operations: [AnyShown], at node: Int
  ) -> AnyShown {
    func parallel<Child: ComposableOperation<ShownValue>>(_ operations: [Child]) -> AnyShown {
      shown(
        list,
        ParallelOperation(operations, width: list.operationWidth, onFailure: list.failureMode),
        at: node)
    }
    if let leaves = operations as? [LeafOperation] { return parallel(leaves) }
    if let closures = operations as? [SimpleOperation<ShownValue>] { return parallel(closures) }
    return parallel(operations.map { AnyOperation($0) })
  }

  private func shown(
    _ list: Tree.List, _ parallel: ParallelOperation<[ShownValue]>, at node: Int
  ) -> AnyShown {
    list.collectsOutcomes
      ? recorded(parallel.collectingOutcomes(), at: node) { outcomes in
        .outcomes(outcomes.map { ShownOutcome($0) })
      } : recorded(parallel, at: node) { .list($0) }
  }

  private func pair<First: ComposableOperation<ShownValue>, Second>(
    _ list: Tree.List, _ first: First, _ second: Second, at node: Int
  ) -> AnyShown where Second: ComposableOperation<ShownValue> {
    let width = list.operationWidth
    let mode = list.failureMode
    return list.collectsOutcomes
      ? recorded(
        ParallelOperation(
          collectingOutcomesOf: first, second, width: width, onFailure: mode ?? .runAll),
        at: node
      ) { .outcomes([ShownOutcome($0.0), ShownOutcome($0.1)]) }
      : recorded(ParallelOperation(first, second, width: width, onFailure: mode), at: node) {
        .list([$0.0, $0.1])
      }
  }

  private func triple<First: ComposableOperation<ShownValue>, Second, Third>(
    _ list: Tree.List, _ first: First, _ second: Second, _ third: Third, at node: Int
  ) -> AnyShown
  where Second: ComposableOperation<ShownValue>, Third: ComposableOperation<ShownValue> {
    let width = list.operationWidth
    let mode = list.failureMode
    return list.collectsOutcomes
      ? recorded(
        ParallelOperation(
          collectingOutcomesOf: first, second, third, width: width, onFailure: mode ?? .runAll),
        at: node
      ) { .outcomes([ShownOutcome($0.0), ShownOutcome($0.1), ShownOutcome($0.2)]) }
      : recorded(ParallelOperation(first, second, third, width: width, onFailure: mode), at: node) {
        .list([$0.0, $0.1, $0.2])
      }
  }
}

/// Creates children, and records each creation.
struct MadeChildren: Sequence, IteratorProtocol, Sendable {
  let node: Int
  let operations: [AnyShown]
  let recorder: Recorder
  private(set) var index = 0

  init(node: Int, operations: [AnyShown], recorder: Recorder) {
    self.node = node
    self.operations = operations
    self.recorder = recorder
  }

  mutating func next() -> AnyOperation<ShownValue>? {
    guard index < operations.count else { return nil }
    recorder.add { [index, node] in .made(node, child: index, isCancelled: $0) }
    defer { index += 1 }
    return AnyOperation(operations[index])
  }
}

/// Creates the same children, suspends at every other child, and may throw instead of a child.
struct ArrivingChildren: AsyncSequence, Sendable {
  let made: MadeChildren
  let failsAt: Int?

  struct AsyncIterator: AsyncIteratorProtocol {
    var made: MadeChildren
    let failsAt: Int?

    mutating func next() async throws -> AnyOperation<ShownValue>? {
      if made.index == failsAt {
        let error = NumberedError(number: made.recorder.number())
        made.recorder.add { [node = made.node] in
          .sourceFailed(node, ShownError(error), isCancelled: $0)
        }
        throw error
      }
      let child = made.next()
      if !made.index.isMultiple(of: 2) { await Task.yield() }
      return child
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(made: made, failsAt: failsAt) }
}
