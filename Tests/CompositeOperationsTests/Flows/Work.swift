import CompositeOperations

/// A piece of work on a stage: it takes its time and comes to what its closure says.
struct Work<Success: Sendable>: ComposableOperation {
  let operationName: String
  let crew: String
  let stage: Stage
  let isStubborn: Bool
  /// Made from how many times work of this name has begun.
  let ending: @Sendable (_ attempt: Int) throws -> Success

  func perform(in context: OperationContext) async throws -> Success {
    let attempt = stage.begin(operationName, in: crew)
    defer { stage.end(operationName, in: crew) }
    try await stage.takeTime(isStubborn: isStubborn)
    return try ending(attempt)
  }
}

extension Stage {
  /// Work that comes to what a closure says.
  func work<Success: Sendable>(
    _ crew: String, _ number: Int = 0, isStubborn: Bool = false,
    _ ending: @escaping @Sendable (_ attempt: Int) throws -> Success
  ) -> Work<Success> {
    Work(
      operationName: "\(crew) \(number)", crew: crew, stage: self, isStubborn: isStubborn,
      ending: ending)
  }

  /// Work that opens a handle, after some failures.
  func opening(
    _ crew: String, _ number: Int = 0, isStubborn: Bool = false, failures: Int = 0
  ) -> AnyOperation<Handle> {
    AnyOperation(
      work(crew, number, isStubborn: isStubborn) { attempt in
        if attempt <= failures { throw TestError("\(crew) \(number)") }
        return self.open("\(crew) \(number)")
      }.discarding { self.discard($0) })
  }

  /// Work that ends without a handle: in an error, or by stopping itself.
  func ending(_ crew: String, _ number: Int = 0, in error: any Error) -> AnyOperation<Handle> {
    AnyOperation(work(crew, number) { _ in throw error })
  }
}
