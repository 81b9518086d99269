import CompositeOperations

/// Records the beginning of a composite, and its outcome right before the parent decides the
/// outcome of the run.
///
/// It erases types like `AnyOperation`, and returns the result as plain data, so that all children
/// have one type. It implements `performHeld(in:)`, a requirement of the engine, because the engine
/// does not discard a value that `map` has taken over.
struct RecordedOperation<Base: ComposableOperation>: ComposableOperation {
  let node: Int
  let base: Base
  let recorder: Recorder
  let show: @Sendable (Base.Success) -> ShownValue

  var operationName: String { "n\(node)" }

  func perform(in context: OperationContext) async throws -> ShownValue {
    try await performHeld(in: context).value
  }

  func performHeld(in context: OperationContext) async throws -> HeldResult<ShownValue> {
    recorder.add { .began(node, isCancelled: $0) }
    do {
      let held = try await base.performHeld(in: context)
      let value = show(held.value)
      recorder.add { .ended(node, .result(value), isCancelled: $0) }
      return HeldResult(value, cleanup: held.cleanup)
    } catch {
      let shown = ShownError(error)
      recorder.add { .ended(node, .error(shown), isCancelled: $0) }
      throw error
    }
  }
}
