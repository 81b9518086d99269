// Without these declarations, the compiler's errors do not say what to write. There is no overload for
// a closure with another value than an operation: a graph of 400 nodes, with a closure for each,
// would take a twentieth longer to compile.

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
  // Not an `AnyOperation<Never>`: the compiler would compare it with branches that are an
  // `AnyOperation`.
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
