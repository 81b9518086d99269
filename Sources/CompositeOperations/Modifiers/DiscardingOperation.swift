extension ComposableOperation {
  /// Adds the cleanup of a value that no caller receives.
  ///
  /// ```swift
  /// let open = OpenFile(path).discarding { file in file.close() }
  /// ```
  ///
  /// A value belongs to the first code of yours that receives it: a caller, a body, a closure such as
  /// that of `map` or `then`, a consumer of results, or a sequence that is called with the finished
  /// step. The closure is called exactly once for each value that none of them receives, such as a
  /// value that comes after the cancellation, the value of a contender that loses a race, or a
  /// partial result of a composite that was cancelled. It is not called for the second value of a
  /// callback operation, which is only in an event. It is called for values of this operation: for
  /// those of contenders, attempts or children, add the modifier to each of them.
  ///
  /// If several `discarding` modifiers are stacked, the outermost one is used. If a modifier passes
  /// on a late value, it is discarded at the end of the run of the outermost such modifier.
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
