extension ComposableOperation {
  /// Adds the cleanup of a value that no caller receives.
  ///
  /// ```swift
  /// let open = OpenFile(path).discarding { file in file.close() }
  /// ```
  ///
  /// The closure is called exactly once for each value that no outcome carries, such as a value
  /// that comes after the cancellation, the value of a contender that loses a race, or a partial
  /// result of a composite that was cancelled. It is not called for:
  ///
  /// - a value that reaches a caller, in a result or in the evidence of an error
  /// - a value that `map` or `then` has received
  /// - a step that a limited history has dropped
  /// - the value of a callback operation that finishes a second time, which only its event shows
  ///
  /// If several `discarding` modifiers are stacked, the outermost one is used. A late value is
  /// discarded after modifiers have passed it on, at the end of the outermost run that shows it.
  ///
  /// - Parameter discard: Cleans up a value.
  @inlinable public func discarding(
    _ discard: @escaping @Sendable (Success) -> Void
  ) -> some ComposableOperation<Success> {
    DiscardingOperation(base: self, discard: discard)
  }
}

@usableFromInline struct DiscardingOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let discard: @Sendable (Base.Success) -> Void

  @inlinable init(base: Base, discard: @escaping @Sendable (Base.Success) -> Void) {
    self.base = base
    self.discard = discard
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    do {
      let value = try await base.performHeld(in: context).value
      return HeldResult(value) { discard(value) }
    } catch {
      throw error.discarding(by: discard)
    }
  }
}
