/// The conditions of an operation and their operands, each distinct condition once.
@usableFromInline final class ConditionPlan: Sendable {
  enum Kind: Sendable {
    case immediate(@Sendable () throws -> Bool)
    case operation(any ComposableOperation<Bool>)
    /// Composed of other conditions, which are given by their indices.
    case not(Int)
    case all([Int], FailureMode)
    case any([Int])
  }

  struct Node: Sendable {
    let name: String
    let kind: Kind
    /// The indices of the conditions that have this one as an operand.
    var parents: [Int] = []
  }

  /// Operands precede their parents. The last node is met if all conditions of the operation are.
  let nodes: [Node]
  /// The indices of the conditions of the operation.
  let required: [Int]
  /// The indices of the conditions that never suspend.
  let immediate: [Int]
  /// The indices of the conditions that may suspend.
  let suspending: [Int]
  /// The indices of the conditions that are composed of no others, and so have a verdict.
  let empty: [Int]
  /// How many operands each condition has.
  let operandCounts: [Int]
  /// How many conditions have each condition as an operand.
  let parentCounts: [Int]

  /// - Parameter conditions: The conditions that the operation requires.
  init(_ conditions: [Condition]) {
    var nodes: [Node] = []
    var indices: [ConditionID: Int] = [:]
    // An explicit stack, so that conditions may be nested as deeply as operations.
    var stack = [Frame(operands: conditions)]
    while var frame = stack.popLast() {
      if let operand = frame.nextOperand {
        if let index = indices[operand.id] {
          frame.indices.append(index)
          stack.append(frame)
        } else {
          stack.append(frame)
          stack.append(Frame(condition: operand, operands: operand.operands))
        }
        continue
      }
      for operand in frame.distinctIndices { nodes[operand].parents.append(nodes.count) }
      if let condition = frame.condition { indices[condition.id] = nodes.count }
      nodes.append(frame.node)
    }
    self.nodes = nodes
    guard case .all(let required, _) = nodes.last?.kind else {
      preconditionFailure("a condition plan must have a root")
    }
    self.required = required
    immediate = nodes.indices.filter {
      if case .immediate = nodes[$0].kind { true } else { false }
    }
    suspending = nodes.indices.filter {
      if case .operation = nodes[$0].kind { true } else { false }
    }
    empty = nodes.indices.filter { nodes[$0].isComposed && nodes[$0].operands.isEmpty }
    operandCounts = nodes.map { $0.operands.count }
    parentCounts = nodes.map { $0.parents.count }
  }

  /// A condition that is being added to a plan.
  private struct Frame {
    /// Nil for the root.
    var condition: Condition?
    let operands: [Condition]
    /// The indices of the operands that have been added.
    var indices: [Int] = []

    var nextOperand: Condition? {
      indices.count < operands.count ? operands[indices.count] : nil
    }

    var distinctIndices: [Int] {
      var known: Set<Int> = []
      return indices.filter { known.insert($0).inserted }
    }

    var node: Node {
      guard let condition else {
        return Node(name: "all conditions", kind: .all(distinctIndices, .cancelRemaining))
      }
      let kind: Kind =
        switch condition.kind {
        case .immediate(let isMet): .immediate(isMet)
        case .operation(let operation): .operation(operation)
        case .not: .not(indices[0])
        case .all(let mode): .all(distinctIndices, mode)
        case .any: .any(distinctIndices)
        }
      return Node(name: condition.name, kind: kind)
    }
  }
}

extension ConditionPlan.Node {
  var isComposed: Bool {
    switch kind {
    case .immediate, .operation: false
    case .not, .all, .any: true
    }
  }

  /// The indices of the operands.
  var operands: [Int] {
    switch kind {
    case .immediate, .operation: []
    case .not(let operand): [operand]
    case .all(let operands, _), .any(let operands): operands
    }
  }
}

extension [Condition] {
  /// Each distinct condition once, in order.
  var distinct: [Condition] {
    if count <= 1 { return self }
    var known: Set<ConditionID> = []
    return filter { known.insert($0.id).inserted }
  }
}
