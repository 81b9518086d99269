/// The position of a node in its tree.
///
/// A node that only changes how its child appears (`named`, `AnyOperation`, `discarding`) has no
/// place of its own and is part of the place of its child.
struct Place {
  /// The node, without the nodes that only change how it appears.
  let node: Tree
  /// The number of the parent; nil for the outermost node.
  let parent: Int?
  /// The index among the children of the parent.
  let index: Int
  /// The name that the parent shows.
  let name: String
  /// The node that discards the value; the outermost one if several are nested.
  let discarding: Int?
  /// Whether an ancestor raises the priority.
  let isRaised: Bool
  /// Whether the node has no run of its own, and is part of the run of the modifier that contains
  /// it.
  let isPart: Bool

  /// The places of a tree, by the numbers of the nodes.
  static func all(of tree: Tree) -> [Int: Place] {
    var places: [Int: Place] = [:]
    func add(_ tree: Tree, parent: Place?, index: Int) {
      let place = Place(tree, parent: parent, index: index)
      places[place.node.id] = place
      for (index, child) in place.node.children.enumerated() {
        add(child, parent: place, index: index)
      }
    }
    add(tree, parent: nil, index: 0)
    return places
  }

  private init(_ tree: Tree, parent: Place?, index: Int) {
    var node = tree
    var name: String?
    var discarding: Int?
    while let base = node.seenDifferently {
      if case .named = node.kind { name = name ?? "name \(node.id)" }
      if case .discarding = node.kind { discarding = discarding ?? node.id }
      node = base
    }
    self.node = node
    self.parent = parent?.node.id
    self.index = index
    isRaised = parent.map { $0.isRaised || $0.node.raises } ?? false
    isPart = parent?.node.hasParts ?? false
    self.name = name ?? node.ownName
    self.discarding = discarding
  }
}

extension Tree {
  fileprivate var seenDifferently: Tree? {
    switch kind {
    case .named(let base), .erased(let base), .discarding(let base): base
    case .leaf, .list, .race, .sequence, .then, .map, .body, .prioritized, .nested, .modified: nil
    }
  }

  fileprivate var raises: Bool {
    if case .prioritized(isHigh: true, _) = kind { true } else { false }
  }

  fileprivate var hasParts: Bool {
    switch kind {
    case .prioritized: true
    case .modified(let modifier, _): !modifier.runsItsOwn
    case .leaf, .list, .race, .sequence, .then, .map, .body, .nested, .named, .erased, .discarding:
      false
    }
  }

  fileprivate var ownName: String {
    if case .leaf(let leaf) = kind, leaf.isClosure { return "SimpleOperation<ShownValue>" }
    return "n\(id)"
  }
}

/// A value that must be discarded if no outcome contains it, and the node that discards it.
struct DiscardableValue: Hashable {
  let node: Int
  let value: ShownValue
}

/// One run of a node, as far as the log has been read.
final class NodeRun {
  struct End {
    /// The index of the entry.
    let time: Int
    /// The tick of the clock.
    let tick: Int
    /// The outcome of the body.
    let body: ShownOutcome
    /// Whether the run was cancelled by then.
    let isCancelled: Bool
  }

  let place: Place
  unowned let parent: NodeRun?
  /// The index of the entry of its beginning.
  let beginning: Int
  /// The tick of the clock at its beginning.
  let firstTick: Int
  var end: End?
  /// The outcome of the run for its parent, once it is known.
  var outcome: ShownOutcome?
  /// Whether the parent shows the outcome.
  var isShown = false
  /// The runs of its children, in the order in which they began.
  var children: [NodeRun] = []
  /// The index of the entry at which a child ended and made the run cancel the others.
  var stop: Int?
  /// The values that the outcome of the body contains.
  var held: [DiscardableValue] = []
  /// Whether the run has observed its cancellation.
  var isKnownCancelled = false
  /// How many checks did not observe a cancellation that was pending.
  var missedChecks = 0

  // The calls of closures and sequences, and their decisions.

  /// The number of steps of a loop that began in one job of the executor, and that job.
  var stepsInJob = 0
  var jobOfSteps = 0
  var made = 0
  var sourceError: ShownError?
  var questions = 0
  var answer: Entry.Answer?
  var called: ShownValue?
  var closureOutcome: ShownOutcome?
  var finallyOutcome: ShownOutcome?
  var hasFinallyEnded = false
  /// Whether another run was waiting for permits that an ancestor held when this run requested
  /// permits.
  var mayBeInCycle = false
  /// The states of conditions, by index.
  var conditions: [Int: ConditionState] = [:]
  /// The body, if the run may abandon it.
  var abandonableBody: AbandonableBodyRun?
  var received: [(child: Int, outcome: ShownOutcome)] = []

  init(of place: Place, below parent: NodeRun?, at beginning: Int, tick: Int) {
    self.place = place
    self.parent = parent
    self.beginning = beginning
    firstTick = tick
  }

  var isLive: Bool { end == nil }
  var liveChildren: Int { children.count { $0.isLive } }
  var lastChild: NodeRun? { children.last }

  func child(_ index: Int) -> NodeRun? { children.last { $0.place.index == index } }

  /// The values that must be discarded if the outcome of the body is lost.
  var discardableValues: [DiscardableValue] {
    if let node = place.discarding, case .result(let value) = end?.body.withoutLateOutcome {
      return [DiscardableValue(node: node, value: value)]
    }
    return held
  }
}

extension NodeRun {
  /// The late outcome of a cancelled run, unless it is a plain cancellation.
  var lateBody: ShownOutcome? {
    guard outcome == .cancelled, let body = end?.body, body != .error(.cancellation) else {
      return nil
    }
    return body.withoutLateOutcome
  }

  /// O3: the error by which a modifier passes on the late outcome of this run, if it was cancelled.
  var passedOnError: ShownError {
    switch end?.body {
    case .error(.late(.result)) where isTakenOver: .cancellation
    case .error(let error) where error.meansCancellation: error
    case .error(let error): .late(.error(error))
    case .result where isTakenOver: .cancellation
    case .result(let value): .late(.result(value))
    case .cancelled, nil: .cancellation
    }
  }

  /// Whether the parent passes on the late outcome of this run if it was cancelled.
  var isPassedOn: Bool {
    switch parent?.place.node.kind {
    case .then, .map: passedOnError != .cancellation
    case .modified(let modifier, _): modifier.runsItsOwn
    case .leaf, .list, .race, .sequence, .body, .prioritized, .nested, .named, .erased, .discarding,
      nil:
      false
    }
  }

  /// Whether a closure of the parent takes over the value.
  private var isTakenOver: Bool {
    switch parent?.place.node.kind {
    case .map: true
    case .then: place.index == 0
    case .leaf, .list, .race, .sequence, .body, .prioritized, .nested, .named, .erased, .discarding,
      .modified, nil:
      false
    }
  }
}

extension Sequence<NodeRun> {
  /// The values of runs that were not cancelled, or whose late outcome is passed on. The other runs
  /// have discarded their values.
  var carried: [DiscardableValue] {
    flatMap { $0.outcome == .cancelled && !$0.isPassedOn ? [] : $0.discardableValues }
  }
}

extension ShownOutcome {
  var isResult: Bool { if case .result = self { true } else { false } }
  var isError: Bool { if case .error = self { true } else { false } }

  /// The outcome of a body that passes on this outcome of a child.
  var passedOn: ShownOutcome { self == .cancelled ? .error(.cancellation) : self }

  /// The late outcome that a modifier passed on, as the handle of the run shows it.
  var withoutLateOutcome: ShownOutcome {
    if case .error(.late(let late)) = self { late } else { self }
  }

  /// The outcome of the child, if this is the outcome of a body that passed it on.
  var beforePassingOn: ShownOutcome { self == .error(.cancellation) ? .cancelled : self }
}

extension ShownError {
  /// O4, P2 and S3: whether a body that throws this error ends as cancelled.
  var meansCancellation: Bool {
    switch self {
    case .cancellation, .interruption, .skipped, .late: true
    case .failure, .timeout, .noneMet, .permits, .foreign: false
    case .parallel(let parallelError):
      parallelError.source == nil && !parallelError.children.contains { $0.outcome.isError }
    case .sequential(let cause, _): cause?.meansCancellation ?? true
    case .retry(_, let isCancelled): isCancelled
    }
  }
}
