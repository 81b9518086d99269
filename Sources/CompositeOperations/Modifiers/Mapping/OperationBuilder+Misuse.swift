// Without these declarations, the compiler's errors do not say what to write.

extension OperationBuilder {
  /// Unavailable. Use `map` for a closure that only throws. Beside a branch that only throws, write
  /// `return` before the operations of the others.
  @available(
    *, unavailable,
    message: """
      the closure has no operation: use `map` for one that only throws; \
      beside a branch that only throws, write `return` before the operations of the others
      """
  )
  public static func buildBlock() -> NoOperation { preconditionFailure("unavailable") }

  /// Unavailable. Use `map` for a closure without an operation.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "an operation must be here; use `map` for a closure with another result or without one"
  )
  // The operation has the result that `map` would have, so that the steps after it have no errors.
  public static func buildExpression<Other: Sendable>(_ other: Other) -> AnyOperation<Other> {
    preconditionFailure("unavailable")
  }

  /// Unavailable. Every branch needs an operation.
  @available(*, unavailable, message: "the branch has no operation")
  public static func buildEither<Second>(
    first: NoOperation
  ) -> EitherOperation<AnyOperation<Second.Success>, Second> { preconditionFailure("unavailable") }

  /// Unavailable. Every branch needs an operation.
  @available(*, unavailable, message: "the branch has no operation")
  public static func buildEither<First>(
    second: NoOperation
  ) -> EitherOperation<First, AnyOperation<First.Success>> { preconditionFailure("unavailable") }
}

extension OperationBuilder {
  /// The operation of a closure that has none. There are no values of this type.
  // Not an `AnyOperation<Never>`: that would also be considered for branches that are an `AnyOperation`.
  public enum NoOperation: ComposableOperation {
    public func perform(in context: OperationContext) async throws -> Never { switch self {} }
  }
}

extension TypedOperationBuilder {
  /// Unavailable. Use `recovering` for a closure that only throws. Beside a branch that only throws,
  /// write `return` before the operations of the others.
  @available(
    *, unavailable,
    message: """
      the closure has no operation: use `recovering` for one that only throws; \
      beside a branch that only throws, write `return` before the operations of the others
      """
  )
  public static func buildBlock() -> AnyOperation<Success> { preconditionFailure("unavailable") }
}
