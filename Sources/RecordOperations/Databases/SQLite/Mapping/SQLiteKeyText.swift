internal import SQLiteSupport

/// Record names that are JSON lists of values: `[1,"a",{"hex":"00FF"}]`.
enum SQLiteKeyText {
  /// Returns the values of a name; nil if it is not such a list.
  static func values(of name: String) -> [SQLiteValue]? {
    guard case .list(let parts)? = JSONText.parse(name) else { return nil }
    var values: [SQLiteValue] = []
    for part in parts {
      switch part {
      case .null: values.append(.null)
      case .integer(let number): values.append(.integer(number))
      case .double(let number): values.append(.real(number))
      case .string(let text): values.append(.text(text))
      case .object(let members):
        guard case .string(let digits)? = members["hex"], members.count == 1,
          let bytes = JSONText.bytes(hexadecimal: digits)
        else { return nil }
        values.append(.blob(bytes))
      case .boolean, .list: return nil
      }
    }
    return values
  }
}
