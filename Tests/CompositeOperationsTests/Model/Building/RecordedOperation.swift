import CompositeOperations

/// Shows when a composite begins, and what it comes to at the very moment at which whoever runs it
/// decides how its run ends.
///
/// It stands where `AnyOperation` could stand, and gives the result as plain data, so that children
/// of all kinds are of one type. It goes by requirements that are the engine's, because a value that
/// `map` has taken over would no longer be in the engine's custody.
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
      return HeldResult(value, disposal: held.disposal)
    } catch {
      let shown = ShownError(error)
      recorder.add { .ended(node, .error(shown), isCancelled: $0) }
      throw error
    }
  }
}
