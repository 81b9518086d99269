import CompositeOperations

/// The children of a step with `each`, for the steps that run a child for each of them.
final class FlowChildren: Sendable {
  /// The values; nil if the step has ended without them.
  let values = Promise<[String]?>()
  private let ends = Lock<[ExactText: Promise<FlowStepState?>]>([:])

  /// Returns how a child ends: its state, or nil if it does not succeed.
  func end(of value: String) -> Promise<FlowStepState?> {
    ends.withLock { ends in
      if let end = ends[ExactText(value)] { return end }
      let end = Promise<FlowStepState?>()
      ends[ExactText(value)] = end
      return end
    }
  }

  /// Ends the step: values and children that have not been set never will be.
  func close() {
    values.set(nil)
    let pending = ends.withLock { Array($0.values) }
    for end in pending { end.set(nil) }
    for value in values.current.flatMap(\.self) ?? [] { end(of: value).set(nil) }
  }
}
