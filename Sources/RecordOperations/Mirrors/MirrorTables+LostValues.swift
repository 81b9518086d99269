internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The values that lost a conflict.
extension MirrorTables {
  func save(_ lost: LostValue) throws {
    try connection.execute(
      """
      INSERT INTO "_record_mirror_conflicts" \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      """,
      [
        .text(mirror), .text(lost.date.text), .text(lost.record.type), .text(lost.record.name),
        .optional(lost.field),
        .text(MirroredFields.text(of: lost.lost)), .text(MirroredFields.text(of: lost.kept)),
        .text(lost.side.rawValue),
      ])
  }

  /// Returns the lost values, oldest first.
  func lostValues() throws -> [LostValue] {
    try connection.fetchAll(
      """
      SELECT at, type, name, field, lost, kept, side FROM "_record_mirror_conflicts" \
      WHERE mirror = ?1 ORDER BY rowid
      """, [.text(mirror)]
    ) { row in
      LostValue(
        record: RecordID(row.text(at: 1) ?? "", row.text(at: 2) ?? ""), field: row.text(at: 3),
        lost: try MirroredFields.value(in: row.text(at: 4) ?? ""),
        kept: try MirroredFields.value(in: row.text(at: 5) ?? ""),
        side: LostValue.Side(rawValue: row.text(at: 6) ?? "") ?? .local,
        date: row.text(at: 0).flatMap { Date(text: $0) } ?? .distantPast)
    }
  }

  /// Removes the values that were lost before a date.
  ///
  /// - Returns: Their number.
  func removeLostValues(before date: Date) throws -> Int {
    try connection.execute(
      "DELETE FROM \"_record_mirror_conflicts\" WHERE mirror = ?1 AND at < ?2",
      [.text(mirror), .text(date.boundText)])
    return connection.changeCount
  }
}
