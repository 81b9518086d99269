/// The same operation again while a predicate wants it.
///
/// ```swift
/// let poll = SequentialOperation(RepeatSequence(FetchStatus(job)) { $0 == .running })
/// ```
///
/// It ends when the predicate says no to a result, and that is the composite's result; or with the
/// first error or cancellation. Only the last step is kept, so it may go on for ever.
public struct RepeatSequence<Repeated: ComposableOperation>: LastStepSequence {
  public typealias Output = Repeated.Success

  private let operation: Repeated
  private let goesOn: @Sendable (_ result: Repeated.Success, _ runs: Int) throws -> Bool
  private var runs = 0

  /// - Parameters:
  ///   - operation: What to run, at least once.
  ///   - goesOn: Whether to run it again, from its last result. An error that it throws ends the
  ///     composite.
  public init(
    _ operation: Repeated, while goesOn: @escaping @Sendable (Repeated.Success) throws -> Bool
  ) {
    self.operation = operation
    self.goesOn = { result, _ in try goesOn(result) }
  }

  /// - Parameters:
  ///   - operation: What to run.
  ///   - times: How often.
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
  /// The same operation a number of times; the result is the last one's.
  ///
  /// - Precondition: `times` is at least 1.
  public static func repeating<Repeated>(_ operation: Repeated, times: Int) -> Self
  where Self == RepeatSequence<Repeated> {
    RepeatSequence(operation, times: times)
  }
}
