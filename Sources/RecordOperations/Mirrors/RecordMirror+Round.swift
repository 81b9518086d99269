internal import CompositeOperations
internal import SQLiteSupport
internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension RecordMirror {
  /// The maximum number of times that a round sends edits again after conflicts.
  static let passes = 5

  /// Runs a round.
  nonisolated(nonsending) func round(in context: OperationContext) async throws -> MirrorReport {
    let lock = try await acquireLock()
    defer { withExtendedLifetime(lock) {} }
    enter(.syncing)
    do {
      let round = MirrorRound(of: self, in: context)
      try await round.perform()
      enter(.idle(after: round.report))
      return round.report
    } catch {
      if error is CancellationError { enter(.idle(after: nil)) }
      throw error
    }
  }

  /// Waits until no other round runs on the local file, in this or another process.
  nonisolated(nonsending) func acquireLock() async throws -> FileLock {
    let named = SQLiteFile(local.path).path
    // A link is another name of the same file.
    let path = ((try? FileSystem.followed(named).path) ?? named) + "-mirror"
    var delay = Duration.milliseconds(1)
    while true {
      do throws(SystemError) {
        if let lock = try FileLock.acquire(path, creating: true) { return lock }
      } catch {
        throw RecordError(
          .storage("the lock file \(path) of the mirror cannot be opened: \(error)"))
      }
      // There is no notification for the end of a lock.
      try await Task.sleep(for: delay)
      delay = min(delay * 2, .milliseconds(100))
    }
  }
}

/// One round of a mirror.
final class MirrorRound: Sendable {
  let mirror: RecordMirror
  let context: OperationContext
  private let counts = Lock(MirrorReport())
  private let knowsRemote = Lock(false)

  init(of mirror: RecordMirror, in context: OperationContext) {
    self.mirror = mirror
    self.context = context
  }

  var report: MirrorReport { counts.withLock(\.self) }

  nonisolated(nonsending) func perform() async throws {
    try await prepare()
    try await pull()
    for pass in 1...RecordMirror.passes {
      // After two pulls, the cause of a missing reference is no longer the order of the records.
      guard try await push(isFinal: pass > 2) else { break }
      try await pull()
    }
    try await finish()
  }

  // MARK: The local file

  /// Creates the tables of the mirror, and tracks the mirrored tables, unless that is done already.
  private nonisolated(nonsending) func prepare() async throws {
    let (mirror, types) = (mirror, mirror.types)
    let isPrepared = try await mirror.local.read { connection in
      try MirrorTables(connection: connection, mirror: mirror.name).arePrepared(for: types)
    }
    if isPrepared { return }
    try await mirror.local.write { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      try connection.createTrackingTables()
      try tables.create()
      var position =
        try tables.position()
        ?? MirrorTables.Position(types: [], remote: nil, token: nil, examined: 0)
      if !Set(types).isSubset(of: position.types) {
        // The records of a new type may be older than the position.
        (position.token, position.examined) = (nil, 0)
      }
      position.types = types
      for type in types {
        if let table = try connection.table(type) {
          if case .rowID = table.key {
            throw RecordError(
              .unsupported(
                """
                \(type) has no primary key, so its rows cannot be matched with those of another \
                database; give it one, or leave it out of the mirrored types
                """))
          }
          if table.isTracked { continue }
          try connection.track(table)
        } else if try tables.knows(type) {
          // The table was dropped. That is not a deletion of its records.
          try tables.forget(type)
          position.token = nil
        }
      }
      try tables.save(position)
    }
  }

  /// Moves the position in the local changes.
  private nonisolated(nonsending) func finish() async throws {
    let mirror = mirror
    let isDone = try await mirror.local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      guard var position = try tables.position() else { return true }
      let examined = position.examined
      try tables.advance(&position)
      return position.examined == examined
    }
    let remote = try await newIdentity()
    if isDone, remote == nil { return }
    try await mirror.local.write { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      guard var position = try tables.position() else { return }
      if let remote { position.remote = remote }
      try tables.forgetUnsentDeletions(after: position.examined)
      try tables.advance(&position)
      try tables.save(position)
    }
  }

  /// Returns the ID of the remote database if the mirror does not know it; otherwise nil. An empty
  /// database gets its ID with its first record.
  ///
  /// The ID is stored with the first common state of a record. A state without it would belong to
  /// another database if all records are fetched again, and be forgotten with an unsent deletion.
  nonisolated(nonsending) func newIdentity() async throws -> String? {
    if knowsRemote.withLock(\.self) { return nil }
    let mirror = mirror
    let isKnown = try await mirror.local.read { connection in
      try MirrorTables(connection: connection, mirror: mirror.name).position()?.remote != nil
    }
    knowsRemote.withLock { $0 = isKnown }
    return isKnown ? nil : try await mirror.remote.identity()
  }

  /// Stores remote states in the local file, in one transaction, and reports the changes after the
  /// commit. With the policy ``ConflictPolicy/decided(_:)``, its closure decides about conflicts.
  ///
  /// - Parameter isOneOfMany: Whether many such transactions follow one another.
  nonisolated(nonsending) func store<Result: Sendable>(
    isOneOfMany: Bool = false,
    _ body: @escaping @Sendable (inout MirrorStore) throws -> Result
  ) async throws -> Result {
    let mirror = mirror
    var decisions: [RecordID: MirrorDecision] = [:]
    while true {
      do {
        let known = decisions
        let (result, changes) = try await mirror.local.withWriter { connection in
          let transaction = {
            try connection.transaction(.immediate) {
              var store = MirrorStore(connection, of: mirror, decisions: known)
              let result = try body(&store)
              if !store.undecided.isEmpty { throw UndecidedConflicts(conflicts: store.undecided) }
              return (result, store.changes)
            }
          }
          return try isOneOfMany ? connection.withRareCheckpoints(transaction) : transaction()
        }
        counts.withLock { counts in for change in changes { counts.count(change) } }
        mirror.listeners.yield(changes.lazy.flatMap(\.each))
        return result
      } catch let undecided as UndecidedConflicts {
        guard case .decided(let decide) = mirror.conflicts else { throw undecided }
        for conflict in undecided.conflicts {
          let merge: RecordMerge
          do { merge = try await decide(conflict) } catch { throw DecisionError(error: error) }
          decisions[conflict.local.id] = MirrorDecision(
            local: conflict.local.tag, remote: conflict.remote, merge: merge)
        }
      }
    }
  }

  func count(_ body: @Sendable (inout MirrorReport) -> Void) { counts.withLock { body(&$0) } }
}

/// An error that the closure of ``ConflictPolicy/decided(_:)`` threw. It ends the round, and
/// ``RecordMirror/following(atLeastEvery:)``.
struct DecisionError: Error {
  let error: any Error
}

/// Conflicts about which the caller has to decide before a transaction can commit.
private struct UndecidedConflicts: Error {
  let conflicts: [MirrorConflict]
}
