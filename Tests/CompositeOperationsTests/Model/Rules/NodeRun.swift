/// Where a node stands in its tree.
///
/// Only nodes with runs of their own have a place. A node that changes nothing but how the one below
/// it is seen (`named`, `AnyOperation`, `discarding`) is part of that one's place.
struct Place {
  /// The node without what only changes how it is seen.
  let node: Tree
  /// The number of the node that runs it; nil for the outermost.
  let parent: Int?
  /// Which child of that node it is.
  let index: Int
  /// What the node that runs it calls it.
  let name: String
  /// The node that gives up its value; where several are stacked, the outermost one.
  let discarding: Int?
  /// Whether it stands below a node that raises its priority.
  let isRaised: Bool
  /// Whether it is no run of its own, but part of that of the modifier above it.
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

/// A value that is to be given up if no outcome carries it, and the node that gives it up.
struct DiscardableValue: Hashable {
  let node: Int
  let value: ShownValue
}

/// One run of a node, as far as the log has told of it.
final class NodeRun {
  struct End {
    /// Which entry told of it.
    let time: Int
    /// At which moment of the clock.
    let tick: Int
    /// What the body came to.
    let body: ShownOutcome
    /// Whether the run was cancelled by then.
    let isCancelled: Bool
  }

  let place: Place
  unowned let parent: NodeRun?
  /// Which entry told of its beginning.
  let beginning: Int
  /// At which moment of the clock it began.
  let firstTick: Int
  var end: End?
  /// How the run ended for whoever ran it, once that is known.
  var outcome: ShownOutcome?
  /// Whether whoever ran it shows how it ended.
  var isShown = false
  /// What it ran, in the order in which it began.
  var children: [NodeRun] = []
  /// When a child of it ended so that it cancels the others.
  var stop: Int?
  /// What its body came to would carry this.
  var held: [DiscardableValue] = []
  /// Whether it has seen that it is cancelled.
  var isKnownCancelled = false
  /// How often it looked in vain for a cancellation that was on its way.
  var missedChecks = 0

  // What the code of the composite's user saw and did.

  /// How many steps of a loop began in one job of the executor, and in which one.
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
  /// Whether somebody waited for what is held above it when it asked for permits.
  var mayBeInCycle = false
  /// By their places.
  var conditions: [Int: ConditionState] = [:]
  /// Its body, if it need not wait for it.
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

  /// What would be given up if nobody saw what the body came to.
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

  /// O3: the error that a modifier throws to pass on how this run ended, if it was cancelled.
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

  /// Whether its parent passes on how it ended if it was cancelled, with a late outcome.
  var isPassedOn: Bool {
    switch parent?.place.node.kind {
    case .then, .map: passedOnError != .cancellation
    case .modified(let modifier, _): modifier.runsItsOwn
    case .leaf, .list, .race, .sequence, .body, .prioritized, .nested, .named, .erased, .discarding,
      nil:
      false
    }
  }

  /// Whether a closure would have been given its value.
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
  /// The values of runs that did not end in a cancellation, or whose end was passed on. The other
  /// runs have discarded theirs.
  var carried: [DiscardableValue] {
    flatMap { $0.outcome == .cancelled && !$0.isPassedOn ? [] : $0.discardableValues }
  }
}

extension ShownOutcome {
  var isResult: Bool { if case .result = self { true } else { false } }
  var isError: Bool { if case .error = self { true } else { false } }

  /// The error as which a body passes on how a child ended, or the result.
  var passedOn: ShownOutcome { self == .cancelled ? .error(.cancellation) : self }

  /// The late outcome that a modifier passed on, as the handle of the run shows it.
  var withoutLateOutcome: ShownOutcome {
    if case .error(.late(let late)) = self { late } else { self }
  }

  /// What a child came to whose end a body passed on.
  var beforePassingOn: ShownOutcome { self == .error(.cancellation) ? .cancelled : self }
}

extension ShownError {
  /// O4, P2 and S3: whether a body that throws this was cancelled, or stopped without an error.
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
