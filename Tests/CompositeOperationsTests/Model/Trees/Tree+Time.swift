extension Tree {
  /// The number of operations that may begin in a number of ticks.
  struct Rate: Sendable {
    let count: Int
    let period: Int

    /// The number of ticks for one operation.
    var share: Int { period / count }
  }

  /// The rates that all nodes share.
  static let rates = [Rate(count: 1, period: 3), Rate(count: 3, period: 6)]

  /// Whether the tree needs the clock of the recorder.
  var takesTime: Bool {
    let takesTime =
      switch kind {
      case .leaf(let leaf): leaf.abandonedAfter != nil
      case .modified(let modifier, _): modifier.takesTime
      case .list, .race, .sequence, .then, .map, .body, .prioritized, .nested, .named, .erased,
        .discarding:
        false
      }
    return takesTime || children.contains { $0.takesTime }
  }
}

extension Tree.Modifier {
  fileprivate var takesTime: Bool {
    switch self {
    case .retrying(let retrying): retrying.delay > 0
    case .repeating(let repeating): repeating.delay > 0
    case .timingOut(.ticks), .throttled: true
    case .delayed(let delay): delay > 0
    case .timingOut, .recovering, .finally, .requiring, .taking: false
    }
  }
}
