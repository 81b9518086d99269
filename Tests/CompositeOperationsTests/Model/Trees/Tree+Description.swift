extension Tree: CustomStringConvertible {
  /// One line for each node, indented below its parent.
  var description: String {
    let below = children.flatMap { "\($0)".split(separator: "\n").map { "  \($0)" } }
    return (["n\(id) \(title)"] + below).joined(separator: "\n")
  }

  private var title: String {
    switch kind {
    case .leaf(let leaf): "leaf: \(leaf)"
    case .list(let list, _): "list: \(list)"
    case .race(let isUniform, _): "race\(isUniform ? "" : " of any")"
    case .sequence(let steps, _): "sequence: \(steps)"
    case .then(let end, _, _): "then\(end.note)"
    case .map(let end, _): "map\(end.note)"
    case .body(let body, _): "body: \(body)"
    case .prioritized(let isHigh, _): "prioritized \(isHigh ? "high" : "low")"
    case .nested(let depth, _): "in \(depth) lists"
    case .named: "named"
    case .erased: "erased"
    case .discarding: "discarding"
    case .modified(let modifier, _): "\(modifier)"
    }
  }
}

extension Tree.ClosureEnd {
  fileprivate var note: String {
    switch self {
    case .value: ""
    case .error: ", fails"
    case .cancellation: ", stops"
    }
  }
}

extension Tree.Leaf: CustomStringConvertible {
  var description: String {
    let wait =
      switch waiting {
      case .yields(0): ""
      case .yields(let yields): " after \(yields) yields"
      case .cancellation: " when cancelled"
      }
    let work =
      switch computing {
      case nil: ""
      case .ticks(let ticks): ", computes for \(ticks) ticks"
      case .untilBegun(let leaf): ", computes until n\(leaf) begins"
      case .untilCancelled(let leaf): ", computes until the end of n\(leaf) cancels it"
      }
    return "\(end)\(wait)\(work)" + (noticesCancellation ? ", notices" : "")
      + (isClosure ? ", closure" : "") + (abandonedAfter.map { ", abandoned after \($0)" } ?? "")
  }
}

extension Tree.List: CustomStringConvertible {
  var description: String {
    "\(form)" + (width.map { ", width \($0)" } ?? "")
      + (explicitRunsAll.map { $0 ? ", runs all" : ", cancels the remaining" } ?? "")
      + (collectsOutcomes ? ", collects outcomes" : "")
  }
}

extension Tree.Steps: CustomStringConvertible {
  var description: String {
    switch self {
    case .linear: "linear"
    case .built(let endsAt): "built" + (endsAt.map { ", ends at \($0)" } ?? "")
    case .delegate(let delegate): "\(delegate)"
    }
  }
}

extension Tree.Delegate: CustomStringConvertible {
  var description: String {
    let parts = [
      recovers ? "recovers" : nil,
      continuesAfterCancellation ? "continues after a cancellation" : nil,
      endsAfter.map { "ends after \($0)" },
      throwsAt.map { throwsCancellation ? "stops at \($0)" : "throws at \($0)" },
      yields > 0 ? "decides after \(yields) yields" : nil, history.map { "keeps \($0)" },
      output.map { "has an output\($0.note)" },
    ]
    return (["delegate"] + parts.compactMap(\.self)).joined(separator: ", ")
  }
}

extension Tree.Body: CustomStringConvertible {
  var description: String {
    (isConcurrent ? "concurrent" : "serial")
      + (letsErrorsThrough ? ", fails with its children" : "")
      + (yields > 0 ? ", \(yields) yields before each" : "") + end.note
  }
}
