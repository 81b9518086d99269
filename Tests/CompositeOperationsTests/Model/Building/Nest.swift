import CompositeOperations

/// Lists in lists around an operation, each of one child: deeper than the stack of a thread is
/// good for.
struct Nest: ComposableOperation {
  let depth: Int
  let base: AnyShown

  var operationName: String { depth == 0 ? base.operationName : "Nest" }

  func perform(in context: OperationContext) async throws -> ShownValue {
    try await performHeld(in: context).value
  }

  func performHeld(in context: OperationContext) async throws -> HeldResult<ShownValue> {
    if depth == 0 { return try await base.performHeld(in: context) }
    do {
      let held = try await ParallelOperation([Nest(depth: depth - 1, base: base)])
        .performHeld(in: context)
      return HeldResult(held.value[0], disposal: held.disposal)
    } catch let error as ParallelOperationError {
      // The error of the one child instead of evidence within evidence.
      throw error.outcomes(of: ShownValue.self)?.first?.error ?? CancellationError()
    }
  }
}
