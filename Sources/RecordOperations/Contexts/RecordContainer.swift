public import CompositeOperations

/// A database and the contexts that work on its records.
///
/// ```swift
/// import CompositeOperations
/// import RecordOperations
///
/// let library = RecordContainer(MemoryRecordDatabase())
/// let add = ContextOperation(in: library) { context in
///   var book = DatabaseRecord("Book", "9780141439600")
///   book["title"] = "Persuasion"
///   context.set(book)
///   return .save
/// }
/// let changes = try await add.run().get()
/// ```
///
/// All live contexts receive what another context saves.
public final class RecordContainer: Sendable {
  /// The database of the records.
  public let database: any RecordDatabase
  /// How often a request is attempted.
  public let retries: RetryPolicy

  private let contexts = Lock<[ObjectIdentifier: WeakContext]>([:])

  private struct WeakContext: Sendable {
    weak let context: RecordContext?
  }

  /// Creates a container for a database.
  ///
  /// - Parameters:
  ///   - database: The database of the records. It must support atomic batches.
  ///   - retries: How often a request is attempted.
  public init(_ database: any RecordDatabase, retries: RetryPolicy = .databaseDefault) {
    self.database = database
    self.retries = retries
  }

  /// Creates a context. It receives the saves of other contexts for as long as it is retained.
  public func context() -> RecordContext { context(in: OperationContext(), isShared: true) }

  /// Creates a context for an operation.
  ///
  /// - Parameters:
  ///   - operationContext: The context in which requests run.
  ///   - isShared: Whether the other contexts receive what this one saves.
  func context(in operationContext: OperationContext, isShared: Bool) -> RecordContext {
    let context = RecordContext(
      in: self, operationContext: operationContext, isShared: isShared)
    contexts.withLock { $0[ObjectIdentifier(context)] = WeakContext(context: context) }
    return context
  }

  /// The number of live contexts.
  package var contextCount: Int { contexts.withLock { $0.count } }

  func remove(_ context: ObjectIdentifier) { contexts.withLock { $0[context] = nil } }

  /// Passes what a context has saved to all other contexts.
  func publish(_ changes: ContextChanges, from saver: RecordContext) {
    let others = contexts.withLock { $0.values.compactMap(\.context) }
    for context in others where context !== saver { context.merge(changes) }
  }
}

/// The changes that a context has saved.
public struct ContextChanges: Sendable {
  /// The saved records, in their current state.
  public internal(set) var saved: [DatabaseRecord] = []
  /// The IDs of the deleted records.
  public internal(set) var deleted: [RecordID] = []

  /// Whether nothing was saved or deleted.
  public var isEmpty: Bool { saved.isEmpty && deleted.isEmpty }

  /// Adds later changes, which replace earlier ones of the same records.
  mutating func append(_ later: ContextChanges) {
    let ids = Set(later.saved.map(\.id) + later.deleted)
    saved.removeAll { ids.contains($0.id) }
    deleted.removeAll { ids.contains($0) }
    saved += later.saved
    deleted += later.deleted
  }
}
