import CompositeOperations

/// The same with a body that is not asynchronous.
struct SynchronousWork: ComposableOperation {
  let seed: UInt64
  var steps = 0

  func perform(in context: OperationContext) -> UInt64 { work(seed, steps: steps) }
}
