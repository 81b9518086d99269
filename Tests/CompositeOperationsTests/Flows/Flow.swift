import CompositeOperations
import Testing

/// A composition as an application has it, and what is to be said of it whatever the order is in
/// which its parts take their time.
struct Flow: Sendable, CustomTestStringConvertible {
  typealias Outcome = CompositeOperations.Outcome<any Sendable>

  let name: String
  /// The most work that may be in flight at once, by crew.
  let limits: [String: Int]
  /// What is wrong with how it ended; nil if nothing is. Not asked where somebody cancelled it.
  let complaint: @Sendable (Outcome, Stage) -> String?
  /// Starts a run of it.
  let start: @Sendable (Stage, OperationEnvironment) -> Started

  /// A run of a flow, whatever that gives.
  struct Started: Sendable {
    let id: OperationID
    let outcome: @Sendable () async -> Outcome
    let cancel: @Sendable () -> Void
  }

  init<Success: Sendable>(
    _ name: String, limits: [String: Int] = [:],
    _ operation: @escaping @Sendable (Stage) -> any ComposableOperation<Success>,
    complaint: @escaping @Sendable (CompositeOperations.Outcome<Success>, Stage) -> String?
  ) {
    self.name = name
    self.limits = limits
    self.complaint = { outcome, stage in
      // The outcome is one that `start` gave.
      complaint(outcome.map { $0 as? Success }.unwrapped(), stage)
    }
    start = { stage, environment in
      let run = Self.run(operation(stage), in: environment)
      return Started(
        id: run.id, outcome: { await run.outcome.map { $0 } },
        cancel: { run.cancel(because: "enough") })
    }
  }

  private static func run<Success>(
    _ operation: some ComposableOperation<Success>, in environment: OperationEnvironment
  ) -> OperationRun<Success> {
    operation.start(in: environment)
  }

  var testDescription: String { name }
}

extension Outcome {
  /// The outcome with a result that is there; without, an error.
  fileprivate func unwrapped<Value>() -> Outcome<Value> where Success == Value? {
    switch self {
    case .result(let value): value.map(Outcome<Value>.result) ?? .error(TestError("another type"))
    case .error(let error): .error(error)
    case .cancelled: .cancelled
    }
  }
}
