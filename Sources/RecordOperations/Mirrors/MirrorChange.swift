#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An event of a mirror that an application may show or act on.
public enum MirrorChange: Sendable {
  /// A record of the remote database was saved in the local one. The associated value is the local
  /// record.
  case saved(DatabaseRecord)
  /// A record that the remote database no longer has was deleted in the local one.
  case deleted(RecordID)
  /// The remote database no longer had the changes since the last round, so all of its records are
  /// fetched again.
  case startedOver
  /// A value or a deletion lost a conflict.
  case lost(LostValue)
  /// A database rejected a record, which the error names. The record stays unsent, or is not stored
  /// locally, until it is changed or the reason has disappeared. Reported once for each state of the
  /// record.
  case rejected(RecordError)
}

/// The result of a round of a mirror.
public struct MirrorReport: Hashable, Sendable {
  /// The number of records that were saved in the local database.
  public internal(set) var saved = 0
  /// The number of records that were deleted in the local database.
  public internal(set) var deleted = 0
  /// The number of records that were sent to the remote database.
  public internal(set) var sent = 0
  /// The number of deletions that were sent to the remote database.
  public internal(set) var sentDeletions = 0
  /// The number of values and deletions that lost a conflict.
  public internal(set) var conflicts = 0
  /// The number of records that a database rejected, for a reason that was not reported before.
  public internal(set) var rejected = 0
  /// Whether the remote database no longer had the changes since the last round, so that all of its
  /// records were fetched again.
  public internal(set) var startedOver = false
  /// Whether the remote database reports changes. If not, each round fetches all of its records.
  public internal(set) var usesChanges = true
  /// The time of the first remote change that an open transaction delays, so that the round did not
  /// fetch it; `nil` if there is none.
  public package(set) var delayedSince: Date?

  /// The mirrored types of which the remote database has no table that can be read, and the local one none, such as
  /// misspelled ones; empty if the remote database does not know its tables.
  public package(set) var missingTypes: [String] = []

  package init() {}

  /// Whether the round changed neither database.
  public var isEmpty: Bool { saved + deleted + sent + sentDeletions == 0 }

  /// Adds the counts of the next round.
  package mutating func add(_ next: MirrorReport) {
    saved += next.saved
    deleted += next.deleted
    sent += next.sent
    sentDeletions += next.sentDeletions
    conflicts += next.conflicts
    rejected += next.rejected
    startedOver = startedOver || next.startedOver
    usesChanges = next.usesChanges
    delayedSince = next.delayedSince
    missingTypes = next.missingTypes
  }

  mutating func count(_ change: StoredChange) {
    switch change {
    case .inserted(let records, _): saved += records.count
    case .one(.saved): saved += 1
    case .one(.deleted): deleted += 1
    case .one(.lost): conflicts += 1
    case .one(.rejected): rejected += 1
    case .one(.startedOver): startedOver = true
    }
  }
}

extension MirrorReport: CustomStringConvertible {
  /// The counts that are not zero, and the missing types: `3 saved, 1 sent, 1 conflict, no table Bok`.
  public var description: String {
    let parts = [
      (saved, "saved"), (deleted, "deleted"), (sent, "sent"), (sentDeletions, "deletions sent"),
      (conflicts, conflicts == 1 ? "conflict" : "conflicts"), (rejected, "rejected"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let counts = parts.isEmpty ? ["no changes"] : parts
    return (counts + missingTypes.map { "no table \($0)" }).joined(separator: ", ")
  }
}

/// The state of a mirror.
public enum MirrorState: Sendable {
  /// No round is running. The associated value is the report of the last one; it is `nil` if there
  /// was none, or if it was cancelled.
  case idle(after: MirrorReport?)
  /// A round is running.
  case syncing
  /// The remote database has no account for the current user.
  case noAccount
  /// The last round of ``RecordMirror/following(atLeastEvery:)`` failed because a database was
  /// temporarily unavailable. The next one follows after the associated time.
  case waiting(for: Duration, because: any Error)
  /// The last round failed. All rounds have failed since the associated time.
  case failing(any Error, since: Date)
}
