package import CompositeOperations
internal import Synchronization

/// What a ``CommittingOperation`` sees of its durable run.
package struct CommitContext: Sendable {
  private let journal: RunJournal

  /// - Returns: Nil outside a durable run.
  package init?(_ context: OperationContext) {
    guard let journal = context.journal as? RunJournal else { return nil }
    self.journal = journal
  }

  package var run: RunID { journal.session.run }
  /// The position of the step.
  package var step: Int { journal.step.position }
  /// The name of the step.
  package var name: String { journal.step.name }
  /// The file or address of the store, for errors.
  package var location: String { journal.session.backend.location }

  /// Makes changes in the transactions of the store; nil if the store cannot.
  package var committer: (any StepCommitter)? { journal.session.backend.committer }

  /// Makes the row of the result; nil for a part of a step without a key, whose result is not stored.
  package var recorder: (any CommittingRecorder)? { journal.committing }

  /// Makes changes in the transaction that stores their result.
  ///
  /// - Parameter changes: Makes the changes. They are rolled back if the run is cancelled before the
  ///   closure has returned; the second argument returns whether it is.
  /// - Returns: The result.
  /// - Throws: The error of the changes; a ``DurableStepError``; the error of the coder or the store;
  ///   `CancellationError`.
  package func commit<Connection, Value: Sendable>(
    by committer: some StepCommitter<Connection>, as recorder: any CommittingRecorder,
    _ changes:
      @escaping @Sendable (Connection, @escaping @Sendable () -> Bool) throws -> Value
  ) async throws -> Value {
    let (step, session) = (journal.step, journal.session)
    if let failure = step.failure { throw failure }
    let isCancelled = Atomic(false)
    let committed = try await withTaskCancellationHandler {
      try await step.request {
        try await committer.commit(
          dropping: recorder.dropped, hasKeys: step.hasKeys, by: session.token
        ) { connection in
          let value = try changes(connection) { isCancelled.load(ordering: .relaxed) }
          let text = try StoredValue.encode(value, by: session.coder)
          try step.checkSize(of: text)
          return CommittedValue(value, in: recorder.row(of: text))
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
    }
    recorder.committed(committed.row)
    return committed.value
  }
}
