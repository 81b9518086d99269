/// An operation that runs other operations one after another. An ``OperationSequence`` decides each
/// next step.
///
/// ```swift
/// switch await SequentialOperation(UserIssues(user: "octocat")).run() {
/// case .result(let steps): print(steps.last(of: ParallelOperation<[[Issue]]>.self) ?? [])
/// case .error(let error): print(error)
/// case .cancelled: print("cancelled")
/// }
/// ```
///
/// The sequence returns the first step, and after each step the next one, until it returns `nil`.
/// The last step decides how the composite ends: in the sequence's output, in a
/// ``SequentialOperationError``, or in a cancellation. Cancelling the composite cancels the running
/// step at once, and the sequence is not called again.
public struct SequentialOperation<Steps: OperationSequence>: ComposableOperation {
  let sequence: Steps

  /// Creates a composite that runs the steps of a sequence.
  ///
  /// - Parameter sequence: Decides the steps. Every run begins with a copy of it.
  public init(_ sequence: Steps) { self.sequence = sequence }

  public var operationName: String { "\(Steps.self)" }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Steps.Output {
    try await performHeld(in: context).value
  }

  @_documentation(visibility: internal)
  public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Steps.Output> {
    try await sequence.performSteps(in: context)
  }
}

extension SequentialOperation: OutlineBearing {
  package var outline: OperationOutline { (sequence as? any StepsKnowing)?.outline ?? .start([]) }
}

/// A sequence that knows some of its steps before it runs.
protocol StepsKnowing {
  var outline: OperationOutline { get }
}
