#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a mirror resolves a conflict: a field that both databases have changed to different values
/// since their last common state.
///
/// ```swift
/// import RecordOperations
///
/// let mirror = RecordMirror(
///   of: ["Book"], in: SQLiteRecordDatabase("library.sqlite"), with: MemoryRecordDatabase(),
///   conflicts: .decided { conflict in
///     guard conflict.fields == ["copies"] else { return .remote }
///     return .values(["copies": 0])
///   })
/// ```
///
/// The value that is lost is kept in the local file and reported by ``RecordMirror/changes``.
public enum ConflictPolicy: Sendable {
  /// The value of the remote database.
  case remoteWins
  /// The value of the local database.
  case localWins
  /// The value of the record that was edited later. The time of a local edit travels with the record, and
  /// a time in the future counts as the time of the save. If both were edited in the same
  /// millisecond, the greater value, so that all replicas choose alike.
  ///
  /// CloudKit keeps only the time of the save, and so does a PostgreSQL database with a role that may not
  /// update the table `record_states`: there, an edit is as old as its arrival.
  case newest
  /// The values that a closure returns. If it throws, the round ends with its error, and the
  /// transaction with the conflict changes nothing.
  case decided(@Sendable (MirrorConflict) async throws -> RecordMerge)

  /// Whether the times of edits may decide.
  var comparesTimes: Bool {
    switch self {
    case .newest, .decided: true
    case .remoteWins, .localWins: false
    }
  }
}

/// A record that both databases have changed, with fields in conflict.
public struct MirrorConflict: Sendable {
  /// The last state that both databases had in common; `nil` if there is none.
  public let base: DatabaseRecord?
  /// The state in the local database.
  public let local: DatabaseRecord
  /// The state in the remote database.
  public let remote: DatabaseRecord
  /// The fields that both have changed to different values, sorted.
  public let fields: [String]
}

/// A decision about the fields of a conflict.
public enum RecordMerge: Hashable, Sendable {
  /// The values of the remote database.
  case remote
  /// The values of the local database.
  case local
  /// Values for the fields in conflict. A field without one takes the value of the remote database.
  case values([String: FieldValue])
}

/// How a mirror decides between a deletion in one database and an edit in the other one.
public enum DeletionPolicy: String, Hashable, Sendable, CaseIterable {
  /// The edit wins: the record exists again in both databases.
  case lose
  /// The deletion wins. The edited values are kept as ``LostValue``s.
  case win
}

/// How a mirror continues with a remote database that is not the source of its records, such as after a
/// change of the account.
public enum OtherDatabasePolicy: String, Hashable, Sendable, CaseIterable {
  /// The round ends in an error, ``RecordError/Reason/otherDatabase(_:)``, and changes neither database.
  case stop
  /// The records of both databases are merged: all local records are sent to the new database.
  case merge
  /// The local records of the mirrored types are deleted, and the records of the new database fetched. Local edits that were not
  /// sent are kept as ``LostValue``s.
  case replaceLocal
}

/// A value, or a deletion, that lost a conflict.
public struct LostValue: Hashable, Sendable {
  /// A database of a mirror.
  public enum Side: String, Hashable, Sendable {
    case local, remote
  }

  /// The ID of the record.
  public let record: RecordID
  /// The field; `nil` if a deletion was lost.
  public let field: String?
  /// The value that was lost; null if a deletion was lost.
  public let lost: FieldValue
  /// The value that was kept; null if the record was deleted.
  public let kept: FieldValue
  /// The database whose value was lost.
  public let side: Side
  /// The time of the decision.
  public let date: Date
}

extension LostValue: CustomStringConvertible {
  /// For example `Book/b1: the local title "Emma" was replaced by "Persuasion"`.
  public var description: String {
    guard let field else { return "\(record): its \(side.rawValue) deletion was undone" }
    let replaced =
      kept == .null ? "was removed" : "was replaced by \(MirroredFields.text(of: kept))"
    return "\(record): the \(side.rawValue) \(field) \(MirroredFields.text(of: lost)) \(replaced)"
  }
}
