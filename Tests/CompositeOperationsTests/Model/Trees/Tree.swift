/// A description of an operation: a node, and what is below it.
struct Tree: Sendable, Equatable {
  /// The number of the node, unique in its tree.
  let id: Int
  var kind: Kind

  indirect enum Kind: Sendable, Equatable {
    case leaf(Leaf)
    case list(List, [Tree])
    case race(isUniform: Bool, [Tree])
    case sequence(Steps, [Tree])
    /// What the first gives is handed to the second.
    case then(ClosureEnd, Tree, Tree)
    case map(ClosureEnd, Tree)
    /// A body that runs children through its context.
    case body(Body, [Tree])
    case prioritized(isHigh: Bool, Tree)
    /// So many lists around it, each of one child.
    case nested(depth: Int, Tree)
    case named(Tree)
    case erased(Tree)
    case discarding(Tree)
    case modified(Modifier, [Tree])
  }

  struct Leaf: Sendable, Equatable {
    enum End: Sendable, Equatable {
      case value, error, cancellation, interruption
      /// An error the first time, a value from then on.
      case valueAfterError
    }

    /// How the body waits before it ends.
    enum Waiting: Sendable, Equatable {
      /// For a number of turns of others.
      case yields(Int)
      /// Until it is cancelled, for not much longer than that should ever take.
      case cancellation
    }

    var end: End
    /// The computation with which the body begins, without suspending; nil for none.
    var computing: Computing?
    var waiting: Waiting
    /// Whether the body stops when it sees after a pause that it is cancelled.
    var noticesCancellation: Bool
    /// Whether it is made from a closure, or a type of its own.
    var isClosure: Bool
    /// How long its run waits for its body; nil for any time.
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
    /// How many may be in flight; nil for the adaptive width.
    var width: Int?
    /// Whether the failure mode that is given runs all children; nil if none is given.
    var explicitRunsAll: Bool?
    var collectsOutcomes: Bool

    /// Whether a child that ends without a result leaves the others alone.
    var runsAll: Bool { explicitRunsAll ?? collectsOutcomes }

    /// Whether the children are made while the list runs.
    var isLazy: Bool {
      switch form {
      case .uniform, .mixed, .pack: false
      case .made, .arriving: true
      }
    }
  }

  enum Steps: Sendable, Equatable {
    case linear
    /// Steps made by closures; one of them may answer that this is the end.
    case built(endsAt: Int?)
    case retry(attempts: Int)
    case fallback
    case `repeat`(times: Int)
    case delegate(Delegate)
  }

  /// How a sequence of the tests' own decides.
  struct Delegate: Sendable, Equatable {
    var recovers: Bool
    var continuesAfterCancellation: Bool
    /// How many steps it wants at most.
    var endsAfter: Int?
    /// At which question it throws, and whether that is a `CancellationError`.
    var throwsAt: Int?
    var throwsCancellation: Bool
    /// How many turns of others it takes to answer.
    var yields: Int
    /// How many steps are kept; nil for all.
    var history: Int?
    /// Whether it makes the result of the composite itself, and whether it fails at that.
    var output: ClosureEnd?
  }

  enum ClosureEnd: Sendable, Equatable { case value, error, cancellation }

  struct Body: Sendable, Equatable {
    /// Whether the children run side by side, in a task group of the body's own.
    var isConcurrent: Bool
    /// Whether it lets the errors of its children through.
    var letsErrorsThrough: Bool
    /// How many turns of others it takes before each child.
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

  /// How many nodes there are.
  var size: Int { children.reduce(1) { $0 + $1.size } }
}
