public import CompositeOperations

/// An operation that works on records in a context of its own.
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
/// The blocks run one after another and share the context: each block sees the changes of the
/// previous ones, saved or not. Each block decides whether all changes so far are saved when it
/// returns. Changes that are unsaved at the end are discarded, or saved if ``savesAtEnd`` is
/// `true`.
///
/// The result is everything that was saved. An error thrown by a block, or a save that fails, ends
/// the operation; earlier saves persist. A cancellation ends the current request, and no further
/// block begins.
public struct ContextOperation: ComposableOperation {
  /// The action to take on the changes when a block returns.
  public enum Decision: Sendable {
    /// Saves all changes so far.
    case save
    /// Keeps the changes for the following blocks.
    case keep
  }

  /// A closure that works on records in the context of the operation.
  public typealias Block =
    nonisolated(nonsending) @Sendable (RecordContext) async throws -> Decision

  /// The container of the records.
  public let container: RecordContainer
  /// How to merge the changes with changes that others have saved since the records were read.
  public let policy: MergePolicy
  /// Whether changes that are unsaved after the last block are saved.
  public let savesAtEnd: Bool
  /// Whether the other contexts of the container receive what this one saves.
  public let isShared: Bool

  private var blocks: [Block]

  /// Creates an operation with its first block.
  ///
  /// - Parameters:
  ///   - container: The container of the records.
  ///   - policy: How to merge the changes with changes that others have saved since the records
  ///     were read.
  ///   - savesAtEnd: Whether changes that are unsaved after the last block are saved.
  ///   - isShared: Whether the other contexts of the container receive what this one saves.
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

  /// Returns the operation with another block after the existing ones.
  ///
  /// - Parameter block: The block to add.
  public func adding(_ block: @escaping Block) -> ContextOperation {
    var operation = self
    operation.blocks.append(block)
    return operation
  }

  /// Runs the blocks in order.
  ///
  /// - Returns: Everything that was saved.
  /// - Throws: Any error that a block throws, or that ``RecordContext/save(merging:)`` throws;
  ///   `CancellationError`.
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
