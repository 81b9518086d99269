extension Tree {
  /// How many may begin in a number of moments: the rates that all nodes share.
  struct Rate: Sendable {
    let count: Int
    let period: Int

    /// How many moments bring another one.
    var share: Int { period / count }
  }

  static let rates = [Rate(count: 1, period: 3), Rate(count: 3, period: 6)]

  /// Whether somebody in it asks a clock for more than no time or any time.
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
