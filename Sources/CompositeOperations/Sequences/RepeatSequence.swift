/// A sequence that repeats an operation while a predicate returns `true`.
///
/// ```swift
/// let poll = SequentialOperation(RepeatSequence(FetchStatus(job)) { $0 == .running })
/// ```
///
/// The first result for which the predicate returns `false` is the result of the composite. An
/// error or a cancellation ends the sequence, too. Only the last step is kept, so it can run
/// forever.
public struct RepeatSequence<Repeated: ComposableOperation>: LastStepSequence {
  public typealias Output = Repeated.Success

  private let operation: Repeated
  private let goesOn: @Sendable (_ result: Repeated.Success, _ runs: Int) throws -> Bool
  private var runs = 0

  /// Creates a sequence that repeats an operation while a predicate returns `true`.
  ///
  /// - Parameters:
  ///   - operation: The operation, which runs at least once.
  ///   - goesOn: Returns whether to run the operation again, from its last result. An error that it
  ///     throws ends the composite.
  public init(
    _ operation: Repeated, while goesOn: @escaping @Sendable (Repeated.Success) throws -> Bool
  ) {
    self.operation = operation
    self.goesOn = { result, _ in try goesOn(result) }
  }

  /// Creates a sequence that runs an operation a number of times.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - times: The number of runs.
  /// - Precondition: `times` is at least 1.
  public init(_ operation: Repeated, times: Int) {
    precondition(times >= 1, "`times` must be at least 1 (was \(times))")
    self.operation = operation
    goesOn = { _, runs in runs < times }
  }

  public var history: StepHistory { .last(1) }

  public mutating func nextOperation(
    after previous: FinishedStep?
  ) throws -> (any ComposableOperation)? {
    if let previous {
      guard let result = previous.result(as: Repeated.Success.self) else { return nil }
      guard try goesOn(result, runs) else { return nil }
    }
    runs += 1
    return operation
  }
}

extension RepeatSequence: StepsKnowing {
  var outline: OperationOutline { .start([operation]) }
}

extension OperationSequence {
  /// Returns a sequence that runs an operation a number of times and ends with the last result.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - times: The number of runs.
  /// - Precondition: `times` is at least 1.
  public static func repeating<Repeated>(_ operation: Repeated, times: Int) -> Self
  where Self == RepeatSequence<Repeated> {
    RepeatSequence(operation, times: times)
  }
}
