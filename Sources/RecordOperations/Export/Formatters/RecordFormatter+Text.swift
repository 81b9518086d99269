internal import SystemSupport

extension RecordFormatter {
  /// Returns a value as text, for formats without types: as a ``CSVFormatter`` writes it, without
  /// quotes. Null is an empty string.
  ///
  /// - Throws: A ``FieldValueError`` for a date outside the years 1 to 9999, and for a list that
  ///   JSON cannot represent.
  public func text(of value: FieldValue) throws(FieldValueError) -> String {
    switch value {
    case .null: return ""
    case .integer(let number): return number.description
    case .double(let number): return number.description
    case .string(let text): return text
    case .date(let date): return try date.formatted
    case .reference(let reference): return reference.cellText
    case .bytes(let content):
      var bytes: [UInt8] = []
      bytes.appendBase64(content.span)
      return String(decoding: bytes, as: UTF8.self)
    case .list(let values):
      return String(decoding: try FieldValue.json(values), as: UTF8.self)
    }
  }
}
