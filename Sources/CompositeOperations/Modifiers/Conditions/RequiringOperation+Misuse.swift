// Without these overloads, the compiler's errors do not say what to write. None of them is generic:
// if a long chain has an error, the compiler tries every combination of generic overloads.
extension ComposableOperation {
  /// Unavailable. Pass a ``Condition`` with a name.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "a condition has a name: write requiring(Condition(\"is online\") { … })"
  )
  public func requiring(_ isMet: @escaping @Sendable () async throws -> Bool) -> Self {
    preconditionFailure("unavailable")
  }

  /// Unavailable. Pass a ``Condition``.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "a name and a closure are a condition: write requiring(Condition(\"is online\") { … })"
  )
  public func requiring(
    _ name: String, _ isMet: @escaping @Sendable () async throws -> Bool
  ) -> Self { preconditionFailure("unavailable") }

  /// Unavailable. Pass a ``Condition``.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      an operation that returns a Bool is a condition: write requiring(Condition(operation)); \
      to begin after another operation, write other.then { _ in operation }
      """
  )
  public func requiring(_ operation: any ComposableOperation) -> Self {
    preconditionFailure("unavailable")
  }
}
