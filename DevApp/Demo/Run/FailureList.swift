import CompositeOperations

/// The failures in a run of commands, as lines of text.
struct FailureList {
  let lines: [String]

  /// - Parameter fateOfOthers: A description of the commands that were terminated.
  init(_ error: ParallelOperationError, _ fateOfOthers: String) {
    var lines = error.failures.map { child in
      let failure =
        switch child.outcome.error {
        case let timeout as TimeoutError: "terminated by the timeout of \(timeout.limit)"
        case let error?: "\(error)"
        case nil: "failed"
        }
      return "\(child.name): \(failure)"
    }
    let failed = lines.count
    var parts = ["\(failed) of \(error.children.count.counted("command")) failed"]
    let ended = error.children.count { $0.origin == .composite }
    if ended > 0 { parts.append("\(ended) \(fateOfOthers)") }
    let unbegun = error.children.count { $0.origin == .neverBegan }
    if unbegun > 0 { parts.append("\(unbegun) not started") }
    lines.append(parts.joined(separator: ", "))
    self.lines = lines
  }
}
