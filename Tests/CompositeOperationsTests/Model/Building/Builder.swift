import CompositeOperations

/// The type of every operation of a tree.
typealias AnyShown = any ComposableOperation<ShownValue>

/// Builds the operation that a tree describes.
struct Builder: Sendable {
  let recorder: Recorder
  /// The permits of each kind, which all nodes share.
  let permits = makePermits()
  let rates = makeRates()

  func operation(_ tree: Tree) -> AnyShown {
    switch tree.kind {
    case .leaf(let leaf):
      if let limit = leaf.abandonedAfter {
        abandonable(leaf, abandonedAfter: limit, at: tree.id)
      } else {
        leaf.isClosure ? closure(leaf, tree.id) : operation(leaf, tree.id)
      }
    case .list(let list, let children): parallel(list, of: children, at: tree.id)
    case .race(let isUniform, let children): race(children, isUniform: isUniform, at: tree.id)
    case .sequence(let steps, let children): sequence(steps, of: children, at: tree.id)
    case .then(let end, let first, let second):
      chain(operation(first), operation(second), end, at: tree.id)
    case .map(let end, let base): mapped(operation(base), end, at: tree.id)
    case .body(let body, let children): performing(body, children, at: tree.id)
    case .prioritized(let isHigh, let base):
      prioritized(operation(base), at: isHigh ? .high : .low, tree.id)
    case .nested(let depth, let base):
      recorded(Nest(depth: depth, base: operation(base)), at: tree.id)
    case .named(let base): named(operation(base), "name \(tree.id)")
    case .erased(let base): AnyOperation(operation(base))
    case .discarding(let base): discarding(operation(base), at: tree.id)
    case .modified(let modifier, let children): modified(modifier, children, at: tree.id)
    }
  }

  // These functions are generic, so that the engine gets concrete types instead of existentials.

  func operation(_ leaf: Tree.Leaf, _ node: Int) -> LeafOperation {
    LeafOperation(node: node, leaf: leaf, recorder: recorder)
  }

  func closure(_ leaf: Tree.Leaf, _ node: Int) -> SimpleOperation<ShownValue> {
    SimpleOperation { [recorder] in try await recorder.perform(leaf, of: node) }
  }

  func recorded<Base: ComposableOperation>(
    _ base: Base, at node: Int, show: @escaping @Sendable (Base.Success) -> ShownValue
  ) -> AnyShown {
    RecordedOperation(node: node, base: base, recorder: recorder, show: show)
  }

  func recorded(_ base: some ComposableOperation<ShownValue>, at node: Int) -> AnyShown {
    recorded(base, at: node) { $0 }
  }

  private func named(_ base: some ComposableOperation<ShownValue>, _ name: String) -> AnyShown {
    base.named(name)
  }

  private func discarding(
    _ base: some ComposableOperation<ShownValue>, at node: Int
  ) -> AnyShown {
    base.discarding { [recorder] value in recorder.add(.discarded(node, value)) }
  }

  private func prioritized(
    _ base: some ComposableOperation<ShownValue>, at priority: TaskPriority, _ node: Int
  ) -> AnyShown {
    recorded(base.prioritized(at: priority), at: node)
  }

  private func mapped(
    _ base: some ComposableOperation<ShownValue>, _ end: Tree.ClosureEnd, at node: Int
  ) -> AnyShown {
    recorded(
      base.map { [recorder] value in
        recorder.add(.called(node, value))
        return try recorder.endClosure(as: end, at: node)
      }, at: node)
  }

  private func chain(
    _ first: some ComposableOperation<ShownValue>, _ second: some ComposableOperation<ShownValue>,
    _ end: Tree.ClosureEnd, at node: Int
  ) -> AnyShown {
    recorded(
      first.then { [recorder] value in
        recorder.add(.called(node, value))
        if end != .value { _ = try recorder.endClosure(as: end, at: node) }
        recorder.add(.answered(node, .child(1)))
        return second
      }, at: node)
  }
}
