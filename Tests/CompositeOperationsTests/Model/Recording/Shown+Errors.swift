import CompositeOperations

/// An error of a leaf or a closure.
struct NumberedError: Error {
  let number: Int
}

/// An error of a leaf that represents a cancellation, as another API would throw it.
struct InterruptionError: CancellationRepresenting {
  let number: Int
  var representsCancellation: Bool { true }
}

extension ShownOutcome {
  /// Creates an outcome with its value as plain data.
  init<Value>(_ outcome: Outcome<Value>, show: (Value) -> ShownValue) {
    switch outcome {
    case .result(let value): self = .result(show(value))
    case .error(let error): self = .error(ShownError(error))
    case .cancelled: self = .cancelled
    }
  }

  init(_ outcome: Outcome<ShownValue>) { self.init(outcome) { $0 } }

  /// Creates the outcome of a child or a step whose type has been erased.
  init(ofAny outcome: Outcome<any Sendable>) {
    self.init(outcome) { $0 as? ShownValue ?? .list([]) }
  }

  /// Returns the value, or throws the error as the type of the library or of the tests.
  func get() throws -> ShownValue {
    switch self {
    case .result(let value): return value
    case .error(.failure(let number)): throw NumberedError(number: number)
    case .error(.interruption(let number)): throw InterruptionError(number: number)
    case .error, .cancelled: throw CancellationError()
    }
  }
}

extension ShownError {
  init(_ error: any Error) {
    switch error {
    case is CancellationError: self = .cancellation
    case let error as LateOutcomeError: self = .late(ShownOutcome(ofAny: error.outcome))
    case let error as NumberedError: self = .failure(error.number)
    case let error as InterruptionError: self = .interruption(error.number)
    case let error as ParallelOperationError: self = .parallel(ShownParallelError(error))
    case let error as SequentialOperationError:
      self = .sequential(cause: error.cause.map(ShownError.init), steps: error.steps.shown)
    case let error as RetryError:
      self = .retry(
        error.errors.map(ShownError.init), isCancelled: error.representsCancellation)
    case let error as TimeoutError: self = .timeout(error.name)
    case let error as Skipped: self = .skipped(error.reason)
    case let error as NoConditionMetError: self = .noneMet(error.errors.map(ShownError.init))
    case let error as PermitError:
      self = .permits(error.wanted, isHeldAbove: error.reason == .heldByAncestor)
    default: self = .foreign("\(error)")
    }
  }
}

extension FinishedSteps {
  var shown: [ShownStep] { map { ShownStep($0) } }
}

extension ShownStep {
  init(_ step: FinishedStep) {
    self.init(index: step.index, name: step.name, outcome: ShownOutcome(ofAny: step.outcome))
  }
}

extension ShownParallelError {
  init(_ error: ParallelOperationError) {
    let children = error.children.map { child in
      Child(
        index: child.index, name: child.name, outcome: ShownOutcome(ofAny: child.outcome),
        origin: Origin(child.origin))
    }
    self.init(
      children: children, failures: error.failures.map(\.index),
      source: error.sourceError.map(ShownError.init), lines: error.lineBeginnings)
    // The typed outcomes must be the same.
    if let typed = error.outcomes(of: ShownValue.self),
      typed.map({ ShownOutcome($0) }) != children.map(\.outcome)
    {
      self.init(children: [], failures: [], source: .foreign("typed outcomes differ"), lines: [])
    }
  }
}

extension ShownParallelError.Origin {
  init(_ origin: ParallelOperationError.Child.Origin) {
    self =
      switch origin {
      case .itself: .itself
      case .composite: .composite
      case .neverBegan: .neverBegan
      }
  }
}

extension ParallelOperationError {
  /// The text before the first colon, for every line that is not indented.
  fileprivate var lineBeginnings: [String] {
    description.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map { line in
      String(line.prefix { $0 != ":" })
    }
  }
}
