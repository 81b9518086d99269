import CompositeOperations
import Testing

/// A composition as in an application, with checks of its outcome that hold under every schedule.
struct Flow: Sendable, CustomTestStringConvertible {
  typealias Outcome = CompositeOperations.Outcome<any Sendable>

  let name: String
  /// The maximum number of operations in flight, by group.
  let limits: [String: Int]
  /// Returns what is wrong with the outcome, or nil. Not called for a cancelled run.
  let complaint: @Sendable (Outcome, Stage) -> String?
  /// Starts a run of it.
  let start: @Sendable (Stage, OperationEnvironment) -> Started

  /// A run of a flow with any result type.
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
      // The outcome comes from `start`.
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
  /// The outcome with an unwrapped result; an error if the result is nil.
  fileprivate func unwrapped<Value>() -> Outcome<Value> where Success == Value? {
    switch self {
    case .result(let value): value.map(Outcome<Value>.result) ?? .error(TestError("another type"))
    case .error(let error): .error(error)
    case .cancelled: .cancelled
    }
  }
}
