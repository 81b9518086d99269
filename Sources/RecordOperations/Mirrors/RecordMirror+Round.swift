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
    let failingSince: Date? = if case .failing(_, let date) = state { date } else { nil }
    enter(.syncing)
    do {
      let round = MirrorRound(of: self, in: context)
      try await round.perform()
      enter(.idle(after: round.report))
      return round.report
    } catch {
      let isCancelled = error is CancellationError
      enter(isCancelled ? .idle(after: nil) : .failing(error, since: failingSince ?? Date()))
      throw error
    }
  }

  /// Waits until no other round runs on the local file, in this or another process.
  private nonisolated(nonsending) func acquireLock() async throws -> FileLock {
    let path = SQLiteFile(local.path).path + "-mirror"
    var delay = Duration.milliseconds(1)
    while true {
      do throws(SystemError) {
        if let lock = try FileLock.acquire(path, creating: true) { return lock }
      } catch {
        throw RecordError(
          .storage("the lock file \(path) of the mirror cannot be opened: \(error)"))
      }
      // The system notifies no one of the end of a lock.
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

  init(of mirror: RecordMirror, in context: OperationContext) {
    self.mirror = mirror
    self.context = context
  }

  var report: MirrorReport { counts.withLock(\.self) }

  nonisolated(nonsending) func perform() async throws {
    try await prepare()
    try await pull()
    for pass in 1...RecordMirror.passes {
      let isLast = pass == RecordMirror.passes
      guard try await push(isLast: isLast) else { break }
      try await pull()
    }
    try await finish()
  }

  // MARK: The local file

  /// Creates the tables of the mirror, and tracks the mirrored tables, unless that is done already.
  private nonisolated(nonsending) func prepare() async throws {
    let (mirror, types) = (mirror, mirror.types)
    let isPrepared = try await mirror.local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      guard try tables.exist(), let position = try tables.position() else { return false }
      return try position.types == types
        && types.allSatisfy { type in
          guard let table = try connection.table(type) else { return try !tables.knows(type) }
          return table.isTracked
        }
    }
    if isPrepared { return }
    try await mirror.local.write { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      try connection.createTrackingTables()
      if try !tables.exist() { try tables.create() }
      var position =
        try tables.position() ?? MirrorTables.Position(types: [], token: nil, examined: 0)
      if !Set(types).isSubset(of: position.types) {
        // The records of a new type may be older than the position.
        (position.token, position.examined) = (nil, 0)
      }
      position.types = types
      for type in types {
        if let table = try connection.table(type) {
          if table.isTracked { continue }
          try connection.track(table)
          try tables.restoreUntracked(type)
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
    if isDone { return }
    try await mirror.local.write { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      guard var position = try tables.position() else { return }
      try tables.forgetUnsentDeletions(after: position.examined)
      try tables.advance(&position)
      try tables.save(position)
    }
  }

  /// Brings remote states into the local file, in one transaction, and reports what has happened
  /// after the commit. Asks the caller to decide about conflicts if the policy says so.
  nonisolated(nonsending) func store<Result: Sendable>(
    _ body: @escaping @Sendable (inout MirrorStore) throws -> Result
  ) async throws -> Result {
    let mirror = mirror
    var decisions: [RecordID: MirrorDecision] = [:]
    while true {
      do {
        let known = decisions
        let (result, changes) = try await mirror.local.write { connection in
          var store = MirrorStore(connection, of: mirror, decisions: known)
          let result = try body(&store)
          if !store.undecided.isEmpty { throw UndecidedConflicts(conflicts: store.undecided) }
          return (result, store.changes)
        }
        for change in changes {
          counts.withLock { $0.count(change) }
          mirror.listeners.yield(change)
        }
        return result
      } catch let undecided as UndecidedConflicts {
        guard case .decided(let decide) = mirror.conflicts else { throw undecided }
        for conflict in undecided.conflicts {
          decisions[conflict.local.id] = MirrorDecision(
            local: conflict.local.tag, remote: conflict.remote, merge: try await decide(conflict))
        }
      }
    }
  }

  func count(_ body: @Sendable (inout MirrorReport) -> Void) { counts.withLock { body(&$0) } }
}

/// Conflicts about which the caller has to decide before a transaction can commit.
private struct UndecidedConflicts: Error {
  let conflicts: [MirrorConflict]
}
