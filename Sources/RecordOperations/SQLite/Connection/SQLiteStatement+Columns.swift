internal import CSQLite

/// The columns of the row that it stands at.
extension SQLiteStatement {
  package var columnCount: Int { Int(unsafe sqlite3_column_count(pointer)) }

  package func storageClass(at index: Int) -> SQLiteValue.StorageClass {
    SQLiteValue.StorageClass(rawValue: unsafe sqlite3_column_type(pointer, Int32(index))) ?? .null
  }

  package func isNull(at index: Int) -> Bool { storageClass(at: index) == .null }

  /// A whole number; what is none as SQLite makes one of it, and 0 for null.
  package func integer(at index: Int) -> Int64 {
    unsafe sqlite3_column_int64(pointer, Int32(index))
  }

  /// A number; what is none as SQLite makes one of it, and 0 for null.
  package func double(at index: Int) -> Double {
    unsafe sqlite3_column_double(pointer, Int32(index))
  }

  /// The bytes of a text or a blob, where SQLite has them: nothing is copied. Those of a number are its text, and
  /// null has none.
  package func withBytes<Result, Failure: Error>(
    at index: Int, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let isBlob = storageClass(at: index) == .blob
    return try unsafe withUnsafeBytes(at: index, isBlob: isBlob) { bytes throws(Failure) in
      try unsafe body(bytes.bytes)
    }
  }

  /// The bytes of a blob, or of the text of anything else, where SQLite has them as long as the body runs.
  @unsafe func withUnsafeBytes<Result, Failure: Error>(
    at index: Int, isBlob: Bool, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let index = Int32(index)
    let address: UnsafeRawPointer? =
      isBlob
      ? unsafe sqlite3_column_blob(pointer, index)
      : unsafe UnsafeRawPointer(sqlite3_column_text(pointer, index))
    // In this order: to ask for a text may change how many bytes there are.
    let count = Int(unsafe sqlite3_column_bytes(pointer, index))
    // They stay where they are until the next step, and the body ends before.
    return try unsafe body(
      UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : count))
  }

  /// The bytes of a text or a blob.
  package func bytes(at index: Int) -> [UInt8] {
    withBytes(at: index) { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }

  /// A text; nil for null, and for bytes that are no UTF-8.
  package func text(at index: Int) -> String? {
    guard !isNull(at: index) else { return nil }
    return withBytes(at: index) { span in
      unsafe span.withUnsafeBytes { bytes in
        unsafe String(validating: bytes.bindMemory(to: UInt8.self), as: UTF8.self)
      }
    }
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
