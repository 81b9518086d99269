import CompositeOperations

/// The work of an operation: `steps` dependent multiplications, about 1.25 ns each.
@inline(never) func work(_ seed: UInt64, steps: Int = 0) -> UInt64 {
  var value = seed
  for _ in 0..<steps { value = (value ^ (value >> 29)) &* 6_364_136_223_846_793_005 }
  return value
}

struct Work: ComposableOperation {
  let seed: UInt64
  var steps = 0

  func perform(in context: OperationContext) async throws -> UInt64 { work(seed, steps: steps) }
}

/// The same work in another type, so that a list of both cannot be specialized for one.
struct OtherWork: ComposableOperation {
  let seed: UInt64
  var steps = 0

  func perform(in context: OperationContext) async throws -> UInt64 { work(seed, steps: steps) }
}

func mixed(_ index: Int, steps: Int = 0) -> any ComposableOperation<UInt64> {
  if index.isMultiple(of: 2) { return Work(seed: UInt64(index), steps: steps) }
  return OtherWork(seed: UInt64(index), steps: steps)
}

extension Sequence<UInt64> {
  var sum: UInt64 { reduce(0, &+) }
}
