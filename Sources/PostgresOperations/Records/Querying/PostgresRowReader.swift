internal import RecordOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The state of a record: its tag, and when it was modified.
struct PostgresState {
  let tag: RecordTag?
  let modified: Date?

  /// - Parameter text: The result of ``PostgresTracking/state``; nil if there is none.
  init(_ text: String?) {
    guard let text, let space = text.utf8.firstIndex(of: UInt8(ascii: " ")) else {
      (tag, modified) = (nil, nil)
      return
    }
    tag = RecordTag(String(text[..<space]))
    modified = Int64(text[text.utf8.index(after: space)...]).map {
      Date(timeIntervalSince1970: Double($0) / 1_000)
    }
  }
}

/// Reads rows as records.
struct PostgresRowReader {
  let table: PostgresTable
  private let columns: [PostgresColumn]
  /// The places of the columns by their names.
  private let places: [String: Int]

  init(_ table: PostgresTable, _ columns: [PostgresColumn]) {
    self.table = table
    self.columns = columns
    places = Dictionary(columns.enumerated().map { ($1.name, $0) }) { _, last in last }
  }

  /// The selected expressions for rows with the alias `t`, each with a leading comma.
  var selection: String { columns.reduce(into: "") { $0 += ", " + $1.selection } }

  /// The selected expressions with the names `c0`, …
  var namedSelection: String {
    columns.enumerated().map { ", \($1.selection) AS c\($0)" }.joined()
  }

  /// The number of selected expressions.
  var width: Int { columns.count }

  /// Returns the values of the columns.
  ///
  /// - Parameter place: The column of the first value in the result.
  func fields(_ rows: PostgresRows, _ row: Int, from place: Int) -> [String: FieldValue] {
    places.mapValues { columns[$0].fieldValue(rows.text(row, place + $0)) }
  }

  /// Returns the record of a row with the columns of ``selection``, after which its state follows.
  func record(
    _ name: String, _ rows: PostgresRows, _ row: Int, from place: Int
  ) -> DatabaseRecord {
    let state = PostgresState(rows.text(row, place + width))
    return DatabaseRecord(
      RecordID(table.name, name), fields: fields(rows, row, from: place), tag: state.tag,
      modified: state.modified)
  }
}
