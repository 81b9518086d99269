public import CompositeOperations

/// Works on records in a context of its own.
///
/// ```swift
/// import CompositeOperations
/// import RecordOperations
///
/// let library = RecordContainer(MemoryRecordDatabase())
/// let lend = ContextOperation(in: library, merging: .objectWins) { context in
///   let books = try await context.records(RecordQuery("Book", where: Field("pages") < 300))
///   for var book in books {
///     book["lent"] = true
///     context.set(book)
///   }
///   return .save
/// }
/// let changes = try await lend.run().get()
/// ```
///
/// Its blocks run one after another and share the context: what one of them has changed the next one sees, saved or not.
/// Each decides whether all that is changed by then is saved when it ends. What is not saved at the end is given up, or
/// saved, as is said.
///
/// It ends in all that was saved. An error that a block throws, and a save that fails, end it; what was saved before that
/// stays. A cancellation ends a request that is on its way, and no other block begins.
public struct ContextOperation: ComposableOperation {
  /// What is done with the changes when a block ends.
  public enum Decision: Sendable {
    /// All that is changed is saved.
    case save
    /// They are kept for the blocks that follow.
    case keep
  }

  public typealias Block =
    nonisolated(nonsending) @Sendable (RecordContext) async throws -> Decision

  public let container: RecordContainer
  public let policy: MergePolicy
  /// Whether what is not saved at the end is saved then.
  public let savesAtEnd: Bool
  /// Whether other contexts are told what this one saves.
  public let isShared: Bool

  private var blocks: [Block]

  /// - Parameters:
  ///   - container: Whose records it works on.
  ///   - policy: What becomes of changes of records that somebody else has saved since they were read.
  ///   - savesAtEnd: Whether what is not saved at the end is saved then.
  ///   - isShared: Whether other contexts are told what this one saves.
  ///   - block: The first block.
  public init(
    in container: RecordContainer, merging policy: MergePolicy = .error,
    savingAtEnd savesAtEnd: Bool = false, shared isShared: Bool = true, _ block: @escaping Block
  ) {
    self.container = container
    self.policy = policy
    self.savesAtEnd = savesAtEnd
    self.isShared = isShared
    blocks = [block]
  }

  /// It with another block, behind those that it has.
  public func adding(_ block: @escaping Block) -> ContextOperation {
    var operation = self
    operation.blocks.append(block)
    return operation
  }

  public func perform(in context: OperationContext) async throws -> ContextChanges {
    let records = container.context(in: context, isShared: isShared)
    var saved = ContextChanges()
    for block in blocks {
      try Task.checkCancellation()
      if case .save = try await block(records) {
        saved.append(try await records.save(merging: policy))
      }
    }
    if savesAtEnd {
      try Task.checkCancellation()
      saved.append(try await records.save(merging: policy))
    }
    return saved
  }
}
