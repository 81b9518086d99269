internal import SystemSupport

/// A value of a parameter. Casts in the SQL give its type.
package enum PostgresValue: Sendable, Hashable {
  case null
  case text(String)
  case integer(Int64)
  /// An array of texts; nil is NULL.
  case texts([String?])
}

/// The values of a statement in the text format of the protocol.
struct PostgresParameters: Sendable {
  /// The sum of the sizes that the server accepts in one message, with room for the headers.
  private static let limit = 1_000_000_000

  /// The texts, each terminated by a zero byte.
  private(set) var bytes: [UInt8] = []
  /// The start of each text; nil for NULL.
  private(set) var starts: [Int?] = []

  /// - Throws: A ``PostgresError`` if a text contains a NUL, which PostgreSQL cannot store, or if
  ///   the values are too large for a message.
  init(_ values: [PostgresValue], of statement: PostgresStatement) throws(PostgresError) {
    starts.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      switch value {
      case .null:
        starts.append(nil)
        continue
      case .text(let text):
        starts.append(bytes.count)
        bytes += text.utf8
      case .integer(let number):
        starts.append(bytes.count)
        bytes += "\(number)".utf8
      case .texts(let texts):
        starts.append(bytes.count)
        appendArray(texts)
      }
      if let start = starts[index], bytes.hasZero(from: start) {
        throw PostgresError(
          .refused, code: "22021",
          "\(statement.name): parameter \(index + 1) contains a NUL (U+0000), which PostgreSQL "
            + "cannot store in text; remove or encode it")
      }
      bytes.append(0)
      if bytes.count > Self.limit {
        throw PostgresError(
          .refused, code: "54000",
          "\(statement.name): the values are larger than \(Self.limit) bytes, the limit of "
            + "PostgreSQL for one statement; split them")
      }
    }
  }

  /// Appends an array literal. Every element is quoted, so that `NULL` is a text and an empty text
  /// is an element.
  private mutating func appendArray(_ texts: [String?]) {
    bytes.append(UInt8(ascii: "{"))
    for (index, text) in texts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      guard let text else {
        bytes += "NULL".utf8
        continue
      }
      bytes.append(UInt8(ascii: "\""))
      for byte in text.utf8 {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          bytes.append(UInt8(ascii: "\\"))
        }
        bytes.append(byte)
      }
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Calls a closure with the addresses of the texts, null for NULL.
  func withPointers<Result>(
    _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        let addresses = unsafe starts.map { start in
          unsafe start.flatMap { start in unsafe characters.baseAddress.map { unsafe $0 + start } }
        }
        return unsafe addresses.withUnsafeBufferPointer { unsafe body($0) }
      }
    }
  }
}
