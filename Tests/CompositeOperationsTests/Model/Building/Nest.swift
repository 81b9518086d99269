import CompositeOperations

/// Nested lists of one child each around an operation. They can nest more deeply than the stack of
/// one thread allows.
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
      return HeldResult(held.value[0], cleanup: held.cleanup)
    } catch let error as ParallelOperationError {
      // Throws the error of the only child, instead of nested composite errors.
      throw error.outcomes(of: ShownValue.self)?.first?.error ?? CancellationError()
    }
  }
}
