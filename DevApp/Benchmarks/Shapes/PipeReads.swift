import CompositeOperations
import Dispatch

extension Shape {
  /// Operations that each read from a pipe, which is written to when all of them wait.
  static func pipes() -> Shape {
    let count = 1_000
    let pipes = Prepared { Pipes(count: count) }
    let list = Prepared {
      (0..<count).map { ReadPipe(index: $0, pipes: pipes.value) as any ComposableOperation<UInt64> }
    }
    return Shape(
      id: "pipes", title: "\(count.grouped) operations that read from a pipe", operations: count,
      ways: waits(list) + [
        .blocking("DispatchGroup, sources alone", .swift) {
          let slots = Slots(count: count)
          let group = DispatchGroup()
          for index in 0..<count {
            group.enter()
            pipes.value.whenReadable(at: index) {
              slots[index] = pipes.value.read(at: index)
              group.leave()
            }
          }
          group.wait()
          return slots.sum
        }
      ])
  }
}

private struct ReadPipe: ComposableOperation {
  let index: Int
  let pipes: Pipes

  func perform(in context: OperationContext) async throws -> UInt64 {
    await withUnsafeContinuation { continuation in
      pipes.whenReadable(at: index) { continuation.resume() }
    }
    return pipes.read(at: index)
  }
}
