import CompositeOperations

/// The same work with a synchronous body.
struct SynchronousWork: ComposableOperation {
  let seed: UInt64
  var steps = 0

  func perform(in context: OperationContext) -> UInt64 { work(seed, steps: steps) }
}
