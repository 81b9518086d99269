/// What a condition says.
enum Verdict: Sendable {
  case proceed
  case skip(Skipped)
  case fail(any Error)

  /// - Parameter name: What the condition is called.
  init(_ isMet: Bool, of name: String) {
    self = isMet ? .proceed : .skip(Skipped(because: "it is not so: \(name)"))
  }

  /// - Parameter name: What the condition is called.
  init(throwing error: any Error, of name: String) {
    if let skipped = error as? Skipped {
      self = .skip(skipped)
    } else if error.meansCancellation {
      self = .skip(Skipped(because: "the condition stopped early: \(name)", isAnswer: false))
    } else {
      self = .fail(error)
    }
  }
}

extension Verdict {
  /// Whether the opposite of the condition is met.
  ///
  /// - Throws: A failure, or why there is no answer.
  func isOppositeMet() throws -> Bool {
    switch self {
    case .proceed: return false
    case .skip(let skipped) where skipped.isAnswer: return true
    case .skip(let skipped): throw skipped
    case .fail(let error): throw error
    }
  }
}

extension Condition {
  var isImmediate: Bool {
    switch kind {
    case .immediate: true
    case .operation: false
    }
  }

  /// What the condition says, if it can be asked without waiting.
  var immediateVerdict: Verdict? {
    guard case .immediate(let isMet) = kind else { return nil }
    do {
      return Verdict(try isMet(), of: name)
    } catch {
      return Verdict(throwing: error, of: name)
    }
  }

  /// What the condition says.
  func verdict(in context: OperationContext) async -> Verdict {
    do {
      switch kind {
      case .immediate(let isMet): return Verdict(try isMet(), of: name)
      case .operation(let operation):
        return Verdict(try await operation.perform(in: context), of: name)
      }
    } catch {
      return Verdict(throwing: error, of: name)
    }
  }
}
