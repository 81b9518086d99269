internal import CompositeOperations
public import Observation

/// The records of a type in a local file as values, in the order of their names, kept in step with
/// the file.
///
/// ```swift
/// import RecordOperations
///
/// struct Edition: Codable, Identifiable, RecordConvertible {
///   let id: String
///   var title: String
/// }
///
/// let local = SQLiteRecordDatabase("library.sqlite")
/// let mirror = RecordMirror(of: ["Edition"], in: local, with: MemoryRecordDatabase())
/// let editions = mirror.array(of: Edition.self)
/// try await editions.refresh()
/// try await editions.insert(Edition(id: "9780141439600", title: "Persuasion"))
/// print(editions.elements)
/// ```
///
/// The array belongs to the actor that creates it, such as the main actor. It shows the local file,
/// so edits appear at once, online or offline, and so do the changes of rounds and of other
/// programs while ``follow()`` runs. A refresh converts and sorts the records on another thread, and
/// changes ``elements`` once. Views that read ``elements`` are updated, because the array is
/// `Observable`.
@Observable
public final class MirroredArray<Element: RecordConvertible> {
  /// A change of the elements.
  public enum Change: Sendable {
    /// An element was inserted. It now has the associated index.
    case inserted(Element, at: Int)
    /// The element at an index has changed.
    case updated(Element, at: Int)
    /// The element at an index was removed.
    case removed(Element, at: Int)
    /// A record cannot be an element. It is left out.
    case unreadable(RecordID, any Error)
  }

  /// The elements, in the order of the names of their records.
  public private(set) var elements: [Element] = []

  @ObservationIgnored private let database: SQLiteRecordDatabase
  @ObservationIgnored private let listeners = Broadcast<Change>()
  /// The records of the elements, in the same order.
  @ObservationIgnored private var records: [DatabaseRecord] = []
  @ObservationIgnored private var token: ChangeToken?
  /// Held by a refresh: an older fetch must not be applied after a newer one.
  @ObservationIgnored private let mutex = AsyncMutex()

  /// Creates an array of the records in a file, which is empty until it is refreshed.
  ///
  /// - Parameter database: The local database.
  public init(in database: SQLiteRecordDatabase) { self.database = database }

  /// The changes of the elements from now on. The stream finishes when the array is released.
  public var changes: AsyncStream<Change> { listeners.stream() }

  // MARK: Reading

  /// Refreshes the elements after each change of the file, until the task is cancelled.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read.
  public nonisolated(nonsending) func follow() async throws {
    try await refresh()
    for await _ in database.hints(in: .default) { try await refresh() }
  }

  /// Fetches what has changed in the file.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read.
  public nonisolated(nonsending) func refresh() async throws {
    try await mutex.acquire()
    defer { mutex.release() }
    guard try await database.isTracking(Element.recordType) else { return }
    let fetched = try await FetchChanges(since: token, in: database).run().get()
    token = fetched.token
    let type = Element.recordType
    guard
      fetched.startsOver || fetched.deleted.contains(where: { $0.type == type })
        || fetched.changed.contains(where: { $0.id.type == type })
    else { return }
    let next = await Snapshot(records, elements).applying(fetched)
    records = next.records
    // Without a change, no view is updated.
    if !next.changes.isEmpty { elements = next.elements }
    listeners.yield(next.changes)
  }

  // MARK: Writing

  /// Saves a new element in the file. The next round sends it.
  ///
  /// - Throws: A ``RecordError``, with the reason ``RecordError/Reason/conflict(_:)`` if a record of
  ///   its name exists; the error of the conversion to a record.
  public nonisolated(nonsending) func insert(_ element: Element) async throws {
    try await make(.save(try element.record(), .ifUnchanged))
  }

  /// Saves the changed properties of an element in the file. The next round sends them.
  ///
  /// - Throws: A ``RecordError``, with the reason ``RecordError/Reason/unknownRecord`` if no record
  ///   of its name exists; the error of the conversion to a record.
  public nonisolated(nonsending) func update(_ element: Element) async throws {
    let id = RecordID(Element.recordType, element.recordName)
    guard let found = try await database.lookup([id], keys: nil)[id] else {
      throw RecordError(.unknownRecord, of: id)
    }
    // Only what differs from the element as it was shown is a change of the caller.
    let shown = Snapshot(records, elements).record(id) ?? found
    var changed = found
    let updated = try element.updating(shown)
    for key in updated.changedKeys { changed[key] = updated[key] }
    if changed.changedKeys.isEmpty { return }
    try await make(.save(changed, .changedKeys))
  }

  /// Deletes the record of an element in the file. The next round sends the deletion.
  ///
  /// - Throws: A ``RecordError``, with the reason ``RecordError/Reason/unknownRecord`` if no record
  ///   of its name exists.
  public nonisolated(nonsending) func remove(_ element: Element) async throws {
    try await make(.delete(RecordID(Element.recordType, element.recordName), ifTagged: nil))
  }

  private nonisolated(nonsending) func make(_ change: RecordChange) async throws {
    if case .failed(let error)? = try await database.modify(RecordBatch([change])).first {
      throw error
    }
    try await refresh()
  }
}

extension RecordMirror {
  /// Returns an array of the local records of a type.
  ///
  /// - Parameter type: The type of the elements, whose record type should be one of ``types``.
  public func array<Element: RecordConvertible>(of type: Element.Type) -> MirroredArray<Element> {
    MirroredArray(in: local)
  }
}
