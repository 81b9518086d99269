internal import CSQLite
internal import SystemSupport

/// The columns of the current row.
extension SQLiteStatement {
  package var columnCount: Int { Int(unsafe sqlite3_column_count(pointer)) }

  package func storageClass(at index: Int) -> SQLiteValue.StorageClass {
    SQLiteValue.StorageClass(rawValue: unsafe sqlite3_column_type(pointer, Int32(index))) ?? .null
  }

  package func isNull(at index: Int) -> Bool { storageClass(at: index) == .null }

  /// Returns an integer. Other values are converted by SQLite; null is 0.
  package func integer(at index: Int) -> Int64 {
    unsafe sqlite3_column_int64(pointer, Int32(index))
  }

  /// Returns a number. Other values are converted by SQLite; null is 0.
  package func double(at index: Int) -> Double {
    unsafe sqlite3_column_double(pointer, Int32(index))
  }

  /// Passes the bytes of text or a blob to a body, without copying them. A number has the bytes of
  /// its text, and null has none.
  package func withBytes<Result, Failure: Error>(
    at index: Int, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The body ends before the next step.
    try unsafe body(unsafeBytes(at: index, isBlob: storageClass(at: index) == .blob).bytes)
  }

  /// Returns the bytes of a blob, or of the text of any other value. They are valid until the next
  /// step.
  @unsafe package func unsafeBytes(at index: Int, isBlob: Bool) -> UnsafeRawBufferPointer {
    let index = Int32(index)
    let address: UnsafeRawPointer? =
      isBlob
      ? unsafe sqlite3_column_blob(pointer, index)
      : unsafe UnsafeRawPointer(sqlite3_column_text(pointer, index))
    // The order matters: requesting text may convert the value, and change the number of bytes.
    let count = Int(unsafe sqlite3_column_bytes(pointer, index))
    return unsafe UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : count)
  }

  /// Returns a copy of the bytes of text or a blob.
  package func bytes(at index: Int) -> [UInt8] {
    withBytes(at: index) { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }

  /// Returns text; nil for null, and for bytes that are not UTF-8.
  package func text(at index: Int) -> String? {
    let storageClass = storageClass(at: index)
    guard storageClass != .null else { return nil }
    // The span ends before the next step.
    let bytes = unsafe unsafeBytes(at: index, isBlob: storageClass == .blob)
    return unsafe bytes.bindMemory(to: UInt8.self).span.text
  }

  package func value(at index: Int) -> SQLiteValue {
    switch storageClass(at: index) {
    case .null: .null
    case .integer: .integer(integer(at: index))
    case .real: .real(double(at: index))
    case .text: text(at: index).map { .text($0) } ?? .illFormedText(bytes(at: index))
    case .blob: .blob(bytes(at: index))
    }
  }
}
