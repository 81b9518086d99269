/// The result of evaluating a condition.
enum Verdict: Sendable {
  case proceed
  case skip(Skipped)
  case fail(any Error)

  /// - Parameter name: The name of the condition.
  init(_ isMet: Bool, of name: String) {
    self = isMet ? .proceed : .skip(Skipped(notMet: name))
  }

  /// The verdict of a closure.
  ///
  /// - Parameter name: The name of the condition.
  init(asking isMet: () throws -> Bool, of name: @autoclosure () -> String) {
    do {
      self = try isMet() ? .proceed : .skip(Skipped(notMet: name()))
    } catch {
      self.init(throwing: error, of: name())
    }
  }

  /// The verdict of a closure that threw an error.
  ///
  /// - Parameter name: The name of the condition.
  init(throwing error: any Error, of name: String) {
    if let skipped = error as? Skipped {
      self = .skip(skipped)
    } else if error.meansCancellation {
      self = .skip(Skipped(stoppedEarly: name))
    } else {
      self = .fail(error)
    }
  }

  /// The verdict of a run that evaluated a condition.
  ///
  /// - Parameter name: The name of the condition.
  init(_ outcome: Outcome<Verdict>, of name: String) {
    switch outcome {
    case .result(let verdict): self = verdict
    case .error(let error): self = .fail(error)
    case .cancelled: self = .skip(Skipped(stoppedEarly: name))
    }
  }

  var isProceed: Bool { if case .proceed = self { true } else { false } }
}

extension Skipped {
  /// - Parameter name: The condition that is not met.
  init(notMet name: String) { self.init(because: "condition '\(name)' is not met") }

  /// - Parameter name: The condition that stopped without an answer.
  init(stoppedEarly name: String) {
    self.init(because: "condition '\(name)' stopped without an answer", isAnswer: false)
  }
}
