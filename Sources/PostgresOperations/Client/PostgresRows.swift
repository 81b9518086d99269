internal import CPostgres

/// The rows of a result, in the text format of the protocol.
package struct PostgresRows: Sendable {
  package let count: Int
  /// The number of rows that the statement has inserted, updated or deleted; of a query, ``count``.
  let affectedCount: Int
  private let columnCount: Int
  private var bytes: [UInt8] = []
  /// The range of each value, row by row; nil for NULL.
  private var ranges: [Range<Int>?] = []

  /// Copies the rows of a result of libpq.
  init(copying result: OpaquePointer) {
    count = Int(unsafe PQntuples(result))
    columnCount = Int(unsafe PQnfields(result))
    affectedCount = unsafe PQcmdTuples(result).flatMap { Int(unsafe String(cString: $0)) } ?? 0
    ranges.reserveCapacity(count * columnCount)
    for row in 0..<Int32(count) {
      for column in 0..<Int32(columnCount) {
        guard unsafe PQgetisnull(result, row, column) == 0,
          let value = unsafe PQgetvalue(result, row, column)
        else {
          ranges.append(nil)
          continue
        }
        let start = bytes.count
        let length = Int(unsafe PQgetlength(result, row, column))
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: length))
        ranges.append(start..<bytes.count)
      }
    }
  }

  /// Returns the text of a value; nil for NULL.
  ///
  /// - Precondition: The row and the column exist.
  package func text(_ row: Int, _ column: Int) -> String? {
    precondition(
      0..<count ~= row && 0..<columnCount ~= column,
      "row \(row), column \(column) of \(count) rows with \(columnCount) columns")
    return ranges[row * columnCount + column].map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  /// Returns a value as an integer; nil for NULL and for other texts.
  package func integer(_ row: Int, _ column: Int) -> Int64? {
    text(row, column).flatMap { Int64($0) }
  }

  /// Returns a value as a Boolean; nil for NULL and for other texts.
  package func boolean(_ row: Int, _ column: Int) -> Bool? {
    switch text(row, column) {
    case "t": true
    case "f": false
    default: nil
    }
  }
}
