public import CompositeOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A mirror, which keeps records of a local SQLite file and of a remote database in step.
///
/// ```swift
/// import CompositeOperations
/// import RecordOperations
///
/// let local = SQLiteRecordDatabase("library.sqlite")
/// let mirror = RecordMirror(of: ["Author", "Book"], in: local, with: MemoryRecordDatabase())
/// let report = try await mirror.sync.run().get()
/// print(report)
/// ```
///
/// A round of ``sync`` fetches the changes of the remote database, merges them field by field with
/// the local edits, and sends the local edits. No edit that was committed locally is lost silently,
/// even if a round fails or the process is killed: the edit is sent to the remote database, or it
/// loses a conflict and is reported as a ``LostValue``.
///
/// Any program may edit the local file, because triggers in the file note which records have
/// changed. The mirrored tables get these triggers as with
/// ``SQLiteRecordDatabase/keepChanges(of:)``. The mirror keeps its state in the local file, in
/// tables whose names begin with `_record_mirror`.
public final class RecordMirror: Sendable {
  /// The mirrored types, sorted.
  public let types: [String]
  /// The local database.
  public let local: SQLiteRecordDatabase
  /// The remote database.
  public let remote: any RecordDatabase
  /// The name of the mirror, which is unique in the local file.
  public let name: String
  /// How conflicts are resolved.
  public let conflicts: ConflictPolicy
  /// Whether an edit in one database or a deletion in the other one wins.
  public let deletions: DeletionPolicy
  /// How the mirror continues with a remote database that is not the source of its records.
  public let otherDatabase: OtherDatabasePolicy
  /// How often a request is attempted.
  public let retries: RetryPolicy
  /// The number of fetched changes from which on they are stored.
  let transactionSize: Int

  let listeners = Broadcast<MirrorChange>()
  let stateListeners = Broadcast<MirrorState>()
  private let currentState = Lock(
    (state: MirrorState.idle(after: nil), failingSince: Date?.none))

  /// Creates a mirror.
  ///
  /// - Parameters:
  ///   - types: The types of the mirrored records.
  ///   - local: The local database.
  ///   - remote: The remote database.
  ///   - name: The name of the mirror, if the local file has several.
  ///   - conflicts: How conflicts are resolved.
  ///   - deletions: Whether an edit in one database or a deletion in the other one wins.
  ///   - otherDatabase: How the mirror continues with a remote database that is not the source
  ///     of its records.
  ///   - retries: How often a request is attempted.
  /// - Precondition: There is at least one type.
  public convenience init(
    of types: [String], in local: SQLiteRecordDatabase, with remote: any RecordDatabase,
    named name: String = "", conflicts: ConflictPolicy = .remoteWins,
    deletions: DeletionPolicy = .lose, otherDatabase: OtherDatabasePolicy = .stop,
    retries: RetryPolicy = .databaseDefault
  ) {
    self.init(
      of: types, in: local, with: remote, named: name, conflicts: conflicts, deletions: deletions,
      otherDatabase: otherDatabase, retries: retries, transactionSize: 10_000)
  }

  /// - Parameter transactionSize: The largest number of fetched changes that share a transaction,
  ///   except that a page is never divided. The first transactions are smaller. Fewer transactions
  ///   write the pages of the file less often.
  package init(
    of types: [String], in local: SQLiteRecordDatabase, with remote: any RecordDatabase,
    named name: String = "", conflicts: ConflictPolicy = .remoteWins,
    deletions: DeletionPolicy = .lose, otherDatabase: OtherDatabasePolicy = .stop,
    retries: RetryPolicy = .databaseDefault, transactionSize: Int
  ) {
    precondition(!types.isEmpty, "`types` must not be empty")
    self.types = Set(types).sorted()
    self.local = local
    self.remote = remote
    self.name = name
    self.conflicts = conflicts
    self.deletions = deletions
    self.otherDatabase = otherDatabase
    self.retries = retries
    self.transactionSize = transactionSize
  }

  /// One round: fetches and merges the changes of the remote database, and sends the local edits.
  ///
  /// Only one round at a time runs on a local file, in all processes: another round waits until the
  /// running one has ended.
  ///
  /// The round ends in a ``RecordError`` if a database is unavailable, if the lock file beside the
  /// local file cannot be opened, or if a mirrored table has no primary key. If the closure of
  /// ``ConflictPolicy/decided(_:)`` throws an error, the round ends in that error. The transactions
  /// that have been committed remain, and the next round continues from there.
  public var sync: some ComposableOperation<MirrorReport> {
    SimpleOperation.withContext { context in
      do { return try await self.round(in: context) } catch let decision as DecisionError {
        self.fail(decision.error)
        throw decision.error
      } catch {
        if !(error is CancellationError) { self.fail(error) }
        throw error
      }
    }.named("sync")
  }

  /// A stream of the events of rounds from now on: each record that a round saves or deletes in the
  /// local database, each lost value and each rejected record, and each time that all records are
  /// fetched again. The stream finishes when the mirror is released.
  public var changes: AsyncStream<MirrorChange> { listeners.stream() }

  /// The current state of the mirror.
  public var state: MirrorState { currentState.withLock { $0.state } }

  /// A stream of the states of the mirror from now on. The stream finishes when the mirror is
  /// released.
  public var states: AsyncStream<MirrorState> { stateListeners.stream() }

  func enter(_ state: MirrorState) {
    // The old state may contain an error of the caller, which is released after the lock.
    let old = currentState.withLock { current in
      let old = current.state
      current.state = state
      if case .idle(.some) = state { current.failingSince = nil }
      return old
    }
    withExtendedLifetime(old) { stateListeners.yield(state) }
  }

  /// Notes that a round has failed.
  ///
  /// - Parameter delay: The delay before the next round, if the failure is temporary.
  func fail(_ error: any Error, waitingFor delay: Duration? = nil) {
    let now = Date()
    let (old, state) = currentState.withLock { current in
      let old = current.state
      let since = current.failingSince ?? now
      current.failingSince = since
      current.state =
        delay.map { .waiting(for: $0, because: error) } ?? .failing(error, since: since)
      return (old, current.state)
    }
    withExtendedLifetime(old) { stateListeners.yield(state) }
  }

  /// The values and deletions that lost a conflict, oldest first.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read; `CancellationError`.
  public func lostValues() async throws -> [LostValue] {
    let name = name
    return try await local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: name)
      return try tables.exist() ? tables.lostValues() : []
    }
  }

  /// The records that one of the databases rejects, with the reasons, as reported by
  /// ``MirrorChange/rejected(_:)``.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read; `CancellationError`.
  public func rejections() async throws -> [RecordID: String] {
    let (name, types) = (name, types)
    return try await local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: name)
      return try tables.exist() ? tables.rejections(types: types) : [:]
    }
  }
}
