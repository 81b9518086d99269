public import CompositeOperations

extension ComposableOperation where Success: Codable {
  /// Stores the result in the journal of the durable run, under a key.
  ///
  /// ```swift
  /// import DurableOperations
  ///
  /// let parcels = ParallelOperation(order.items.map { PackItem(item: $0).journaled(as: $0) })
  /// ```
  ///
  /// After a crash, the next process returns the stored result without running the operation. Use
  /// it for the parts of a step: children of a parallel composite, nodes of a graph, or operations
  /// that a body runs. A step as a whole is stored anyway.
  ///
  /// The operation is found by its key, never by its position, so keys must be different within a
  /// step; the same key twice in one attempt is a ``DurableStepError``. Only results are stored: an
  /// operation that fails runs again. A stored value is no longer discarded by `discarding`. The
  /// keys of a step are deleted when it finishes.
  ///
  /// Outside a durable run, the modifier has no effect.
  ///
  /// - Parameter key: The key, as its description. If that is empty, the operation ends in a ``DurableStepError``.
  @inlinable public func journaled(
    as key: some CustomStringConvertible
  ) -> some ComposableOperation<Success> {
    JournaledOperation(base: self, key: "\(key)")
  }
}

extension ComposableOperation where Success == Void {
  /// Stores the success of the operation in the journal of the durable run, under a key.
  ///
  /// After a crash, the next process does not run it again. See the variant for `Codable` results.
  ///
  /// - Parameter key: The key, as its description. If that is empty, the operation ends in a ``DurableStepError``.
  @inlinable public func journaled(
    as key: some CustomStringConvertible
  ) -> some ComposableOperation<Void> {
    JournaledOperation(base: self, key: "\(key)")
  }
}

@usableFromInline struct JournaledOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  private let key: JournalKey

  @usableFromInline init(base: Base, key: String) {
    self.base = base
    self.key = JournalKey(key)
  }

  // Inlined, so that an operation outside of a durable run takes no longer than without a key.
  @inlinable @inline(__always)
  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if context.isPlain { return try await base.performHeld(in: context) }
    return try await performJournaled(in: context)
  }

  @usableFromInline nonisolated(nonsending) func performJournaled(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    guard let journal = context.journal as? RunJournal else {
      return try await base.performHeld(in: context)
    }
    let part = try journal.part(key)
    let coder = journal.session.coder
    if let stored = part.stored, stored.kind == .result {
      do {
        let text = stored.value ?? StoredValue.void
        return HeldResult(try StoredValue.decode(Base.Success.self, from: text, by: coder))
      } catch {
        throw journal.step.markStuck(
          because: """
            step \(journal.step.position), \(journal.step.name): the result of key '\(part.key)' \
            cannot be decoded as \(Base.Success.self): \(error)
            """)
      }
    }
    let began = journal.session.now
    let isCommitting = base.isCommitting
    let journalOfBase =
      isCommitting ? part.committing(by: KeyRecorder(part: part, began: began)) : part
    let held = try await base.performHeld(in: context.journaling(in: journalOfBase))
    if isCommitting { return HeldResult(held.value) }
    do {
      try await part.store(.result, try StoredValue.encode(held.value, by: coder), began: began)
    } catch {
      held.cleanup?()
      throw error
    }
    return HeldResult(held.value)
  }
}
