import CompositeOperations

/// The same work as a class, with an object for every operation.
final class ClassWork: ComposableOperation {
  let seed: UInt64
  let steps: Int

  init(seed: UInt64, steps: Int) {
    self.seed = seed
    self.steps = steps
  }

  func perform(in context: OperationContext) async throws -> UInt64 { work(seed, steps: steps) }
}
