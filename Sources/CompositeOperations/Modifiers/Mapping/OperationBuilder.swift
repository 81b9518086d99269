/// Builds the operation that a closure returns, and lets the closure choose among several types.
///
/// ```swift
/// let issues = FetchRepositories(user: "octocat").then { repositories in
///   if let first = repositories.first {
///     FetchIssues(repository: first)
///   } else {
///     CachedIssues()
///   }
/// }
/// ```
///
/// The branches of an `if` or a `switch` may have operations of different types, if all of them
/// have the same `Success`. A closure that contains a `return` statement is an ordinary closure:
/// all its `return` statements must have the same type. Wrap the operations in ``AnyOperation``
/// there.
///
/// Swift 6.3.1 does not infer the type of an empty literal `[]` or of the key path `\.self` later
/// in the same chain, as in `.then { makeNext($0) }.ignoringErrors(with: [])`. Write `return` in a
/// closure of one expression, or name the type: `[Issue]()`.
// The compiler solves the body of a built closure by itself, not together with the whole chain
// around it. Without the builder each overload in a closure doubles the time for the chain.
@resultBuilder public enum OperationBuilder {
  /// Builds a closure of one expression.
  @inlinable public static func buildBlock<Operation: ComposableOperation>(
    _ operation: Operation
  ) -> Operation { operation }

  /// Builds the first branch of an `if` or a `switch`.
  @inlinable public static func buildEither<First, Second>(
    first: First
  ) -> EitherOperation<First, Second> { EitherOperation(.first(first)) }

  /// Builds the second branch of an `if` or a `switch`.
  @inlinable public static func buildEither<First, Second>(
    second: Second
  ) -> EitherOperation<First, Second> { EitherOperation(.second(second)) }

  /// Builds the branch of an `if #available`, whose type must not escape from it.
  @inlinable public static func buildLimitedAvailability<Success>(
    _ operation: some ComposableOperation<Success>
  ) -> AnyOperation<Success> { AnyOperation(operation) }
}

/// An ``OperationBuilder`` for closures whose `Success` is known, which it passes to their
/// expressions.
@resultBuilder public enum TypedOperationBuilder<Success: Sendable> {
  /// Builds an expression, with the type that the closure must have.
  @inlinable public static func buildExpression<Operation: ComposableOperation<Success>>(
    _ operation: Operation
  ) -> Operation { operation }

  /// Builds a closure of one expression.
  @inlinable public static func buildBlock<Operation: ComposableOperation<Success>>(
    _ operation: Operation
  ) -> Operation { operation }

  /// Builds the first branch of an `if` or a `switch`.
  @inlinable public static func buildEither<First, Second>(
    first: First
  ) -> EitherOperation<First, Second> where First.Success == Success {
    EitherOperation(.first(first))
  }

  /// Builds the second branch of an `if` or a `switch`.
  @inlinable public static func buildEither<First, Second>(
    second: Second
  ) -> EitherOperation<First, Second> where First.Success == Success {
    EitherOperation(.second(second))
  }

  /// Builds the branch of an `if #available`, whose type must not escape from it.
  @inlinable public static func buildLimitedAvailability(
    _ operation: some ComposableOperation<Success>
  ) -> AnyOperation<Success> { AnyOperation(operation) }
}

/// One of two operations of different types that have the same `Success`.
///
/// An ``OperationBuilder`` makes it from the branches of an `if` or a `switch`. It has the name,
/// the run and the result of the chosen branch.
public struct EitherOperation<First: ComposableOperation, Second: ComposableOperation>:
  ComposableOperation
where First.Success == Second.Success {
  @usableFromInline enum Choice: Sendable {
    case first(First)
    case second(Second)
  }

  @usableFromInline let choice: Choice

  @inlinable init(_ choice: Choice) { self.choice = choice }

  /// The name of the chosen operation.
  @inlinable public var operationName: String {
    switch choice {
    case .first(let operation): operation.operationName
    case .second(let operation): operation.operationName
    }
  }

  /// The chosen operation.
  @_documentation(visibility: internal)
  @inlinable public var modifiedOperation: (any ComposableOperation)? {
    switch choice {
    case .first(let operation): operation
    case .second(let operation): operation
    }
  }

  @inlinable public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> First.Success {
    switch choice {
    case .first(let operation): try await operation.perform(in: context)
    case .second(let operation): try await operation.perform(in: context)
    }
  }

  @_documentation(visibility: internal)
  @inlinable public nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<First.Success> {
    switch choice {
    case .first(let operation): try await operation.performHeld(in: context)
    case .second(let operation): try await operation.performHeld(in: context)
    }
  }
}
