/// A description of an operation: a node and its children.
struct Tree: Sendable, Equatable {
  /// The number of the node, unique in its tree.
  let id: Int
  var kind: Kind

  indirect enum Kind: Sendable, Equatable {
    case leaf(Leaf)
    case list(List, [Tree])
    case race(isUniform: Bool, [Tree])
    case sequence(Steps, [Tree])
    /// A closure receives the result of the first and returns the second.
    case then(ClosureEnd, Tree, Tree)
    case map(ClosureEnd, Tree)
    /// A body that runs children through its context.
    case body(Body, [Tree])
    case prioritized(isHigh: Bool, Tree)
    /// The operation in nested lists of one child each.
    case nested(depth: Int, Tree)
    case named(Tree)
    case erased(Tree)
    case discarding(Tree)
    case modified(Modifier, [Tree])
  }

  struct Leaf: Sendable, Equatable {
    enum End: Sendable, Equatable {
      case value, error, cancellation, interruption
      /// An error in the first run, and a value in later runs.
      case valueAfterError
    }

    /// How the body waits before it ends.
    enum Waiting: Sendable, Equatable {
      /// Yields this number of times.
      case yields(Int)
      /// Until it is cancelled, or up to `Recorder.maximumCancellationChecks` times.
      case cancellation
    }

    var end: End
    /// The computation with which the body begins, without suspending; nil for none.
    var computing: Computing?
    var waiting: Waiting
    /// Whether the body stops if it is cancelled after a suspension.
    var noticesCancellation: Bool
    /// Whether the operation is a closure, instead of a type of its own.
    var isClosure: Bool
    /// The limit of an abandoning timeout around the body; nil for no timeout.
    var abandonedAfter: Limit?
  }

  struct List: Sendable, Equatable {
    enum Form: Sendable, Equatable {
      case uniform, mixed, pack
      /// From a factory of a sequence.
      case made
      /// From a factory of an asynchronous sequence, which may throw instead of a child.
      case arriving(failsAt: Int?)
    }

    var form: Form
    /// The maximum number of children in flight; nil for the adaptive width.
    var width: Int?
    /// Whether an explicit failure mode runs all children; nil without an explicit mode.
    var explicitRunsAll: Bool?
    var collectsOutcomes: Bool

    /// Whether the other children continue after a child has ended without a result.
    var runsAll: Bool { explicitRunsAll ?? collectsOutcomes }

    /// Whether the children are created while the list runs.
    var isLazy: Bool {
      switch form {
      case .uniform, .mixed, .pack: false
      case .made, .arriving: true
      }
    }
  }

  enum Steps: Sendable, Equatable {
    case linear
    /// Steps created by closures. The closure at `endsAt` ends the sequence.
    case built(endsAt: Int?)
    case delegate(Delegate)
  }

  /// The decisions of a sequence that the tests implement.
  struct Delegate: Sendable, Equatable {
    var recovers: Bool
    var continuesAfterCancellation: Bool
    /// The maximum number of steps.
    var endsAfter: Int?
    /// The number of the call that throws. `throwsCancellation` is whether it throws a
    /// `CancellationError`.
    var throwsAt: Int?
    var throwsCancellation: Bool
    /// How many times it yields before it decides.
    var yields: Int
    /// The number of steps that are kept; nil for all.
    var history: Int?
    /// How the creation of the composite's result ends; nil if the sequence does not create it.
    var output: ClosureEnd?
  }

  enum ClosureEnd: Sendable, Equatable { case value, error, cancellation }

  struct Body: Sendable, Equatable {
    /// Whether the children run concurrently, in a task group of the body.
    var isConcurrent: Bool
    /// Whether the error of a child ends the body.
    var letsErrorsThrough: Bool
    /// How many times it yields before each child.
    var yields: Int
    var end: ClosureEnd
  }

  var children: [Tree] {
    get {
      switch kind {
      case .leaf: []
      case .list(_, let children), .race(_, let children), .sequence(_, let children),
        .body(_, let children), .modified(_, let children):
        children
      case .then(_, let first, let second): [first, second]
      case .map(_, let base), .prioritized(_, let base), .nested(_, let base), .named(let base),
        .erased(let base), .discarding(let base):
        [base]
      }
    }
    set {
      switch kind {
      case .leaf: break
      case .list(let list, _): kind = .list(list, newValue)
      case .race(let isUniform, _): kind = .race(isUniform: isUniform, newValue)
      case .sequence(let steps, _): kind = .sequence(steps, newValue)
      case .then(let end, _, _): kind = .then(end, newValue[0], newValue[1])
      case .map(let end, _): kind = .map(end, newValue[0])
      case .body(let body, _): kind = .body(body, newValue)
      case .prioritized(let isHigh, _): kind = .prioritized(isHigh: isHigh, newValue[0])
      case .nested(let depth, _): kind = .nested(depth: depth, newValue[0])
      case .named: kind = .named(newValue[0])
      case .erased: kind = .erased(newValue[0])
      case .discarding: kind = .discarding(newValue[0])
      case .modified(let modifier, _): kind = .modified(modifier, newValue)
      }
    }
  }

  /// The number of nodes.
  var size: Int { children.reduce(1) { $0 + $1.size } }
}
