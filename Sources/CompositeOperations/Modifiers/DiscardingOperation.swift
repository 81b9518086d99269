extension ComposableOperation {
  /// The same operation, with a way to give up a value that nobody will see.
  ///
  /// ```swift
  /// let open = OpenFile(path).discarding { file in file.close() }
  /// ```
  ///
  /// The closure is called exactly once for every value that no outcome carries: one that came after
  /// the cancellation, a loser of a race, a partial result of a composite that was cancelled. A
  /// value that reaches a caller, in a result or in the evidence of an error, is the caller's. So is
  /// a value that `map` or `then` has taken over, and a step that a limited history has let go. What
  /// a callback operation is finished with a second time is dropped, and only its event shows it.
  /// Where several are stacked, the outermost one counts. A late value is discarded after modifiers have
  /// passed it on, at the end of the outermost run that shows it.
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
