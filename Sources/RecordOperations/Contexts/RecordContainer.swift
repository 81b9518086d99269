internal import CompositeOperations

/// A database, and the contexts in which its records are worked on.
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
/// What one context saves reaches all the others that are alive.
public final class RecordContainer: Sendable {
  public let database: any RecordDatabase
  /// How often a request is tried.
  public let retries: RequestRetries

  private let contexts = Lock<[ObjectIdentifier: Member]>([:])

  private struct Member: Sendable {
    weak let context: RecordContext?
  }

  /// - Parameters:
  ///   - database: Where the records are. It has to save all records of a batch or none.
  ///   - retries: How often a request is tried.
  public init(_ database: any RecordDatabase, retries: RequestRetries = .standard) {
    self.database = database
    self.retries = retries
  }

  /// A context of one's own: for as long as it is kept.
  public func context() -> RecordContext { context(in: OperationContext(), isShared: true) }

  /// - Parameters:
  ///   - operation: Where its requests are run.
  ///   - isShared: Whether the others are told what it saves.
  func context(in operation: OperationContext, isShared: Bool) -> RecordContext {
    let context = RecordContext(in: self, operation: operation, isShared: isShared)
    contexts.withLock { $0[ObjectIdentifier(context)] = Member(context: context) }
    return context
  }

  /// How many contexts are alive.
  package var contextCount: Int { contexts.withLock { $0.count } }

  func remove(_ context: ObjectIdentifier) { contexts.withLock { $0[context] = nil } }

  /// Tells all contexts but one what it has saved.
  func publish(_ changes: ContextChanges, from saver: RecordContext) {
    let others = contexts.withLock { $0.values.compactMap(\.context) }
    for context in others where context !== saver { context.merge(changes) }
  }
}

/// What a context has saved.
public struct ContextChanges: Sendable {
  /// The records that were saved, as they are now.
  public internal(set) var saved: [DatabaseRecord] = []
  /// The records that were deleted.
  public internal(set) var deleted: [RecordID] = []

  public var isEmpty: Bool { saved.isEmpty && deleted.isEmpty }

  /// Adds later ones.
  mutating func append(_ later: ContextChanges) {
    let ids = Set(later.saved.map(\.id) + later.deleted)
    saved.removeAll { ids.contains($0.id) }
    deleted.removeAll { ids.contains($0) }
    saved += later.saved
    deleted += later.deleted
  }
}
