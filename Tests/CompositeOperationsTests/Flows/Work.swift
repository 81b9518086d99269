import CompositeOperations

/// An operation in a fixture, which takes some time and ends as its closure does.
struct Work<Success: Sendable>: ComposableOperation {
  let operationName: String
  let crew: String
  let stage: Stage
  let isStubborn: Bool
  /// Returns or throws the outcome of an attempt, from 1.
  let ending: @Sendable (_ attempt: Int) throws -> Success

  func perform(in context: OperationContext) async throws -> Success {
    let attempt = stage.begin(operationName, in: crew)
    defer { stage.end(operationName, in: crew) }
    try await stage.takeTime(isStubborn: isStubborn)
    return try ending(attempt)
  }
}

extension Stage {
  /// Returns an operation that ends as a closure does.
  func work<Success: Sendable>(
    _ crew: String, _ number: Int = 0, isStubborn: Bool = false,
    _ ending: @escaping @Sendable (_ attempt: Int) throws -> Success
  ) -> Work<Success> {
    Work(
      operationName: "\(crew) \(number)", crew: crew, stage: self, isStubborn: isStubborn,
      ending: ending)
  }

  /// Returns an operation that opens a handle, after a number of failures.
  func opening(
    _ crew: String, _ number: Int = 0, isStubborn: Bool = false, failures: Int = 0
  ) -> AnyOperation<Handle> {
    AnyOperation(
      work(crew, number, isStubborn: isStubborn) { attempt in
        if attempt <= failures { throw TestError("\(crew) \(number)") }
        return self.open("\(crew) \(number)")
      }.discarding { self.discard($0) })
  }

  /// Returns an operation that ends in an error or cancels itself.
  func ending(_ crew: String, _ number: Int = 0, in error: any Error) -> AnyOperation<Handle> {
    AnyOperation(work(crew, number) { _ in throw error })
  }
}
