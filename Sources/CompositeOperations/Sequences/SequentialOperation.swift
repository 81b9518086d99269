/// Runs one operation after another, as a sequence decides.
///
/// ```swift
/// switch await SequentialOperation(UserIssues(user: "octocat")).run() {
/// case .result(let steps): print(steps.last(of: ParallelOperation<[[Issue]]>.self) ?? [])
/// case .error(let error): print(error)
/// case .cancelled: print("cancelled")
/// }
/// ```
///
/// The sequence is asked for the first step, and after each step for the next one, until it answers
/// `nil`. The last step decides how the composite ends: in the sequence's output, in a
/// ``SequentialOperationError``, or in a cancellation. A cancellation of the composite reaches the
/// running step at once, and the sequence is not asked again.
public struct SequentialOperation<Steps: OperationSequence>: ComposableOperation {
  let sequence: Steps

  /// - Parameter sequence: What decides the steps; every run begins with a copy of it.
  public init(_ sequence: Steps) { self.sequence = sequence }

  public var operationName: String { "\(Steps.self)" }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Steps.Output {
    try await performHeld(in: context).value
  }

  public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Steps.Output> {
    try await sequence.performSteps(in: context)
  }
}

extension SequentialOperation: OutlineBearing {
  var outline: OperationOutline { (sequence as? any StepsKnowing)?.outline ?? .start([]) }
}

/// A sequence that knows something of its steps before it runs.
protocol StepsKnowing {
  var outline: OperationOutline { get }
}
