extension RecordFormatter {
  /// A value as text, for formats that have nothing else: as a ``CSVFormatter`` has it, without quotes. Null is empty.
  ///
  /// - Throws: A ``FieldValueError`` for a moment that is not of the years 1 to 9999, and for a list that JSON cannot
  ///   have.
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
      var bytes: [UInt8] = []
      try bytes.appendJSON(values)
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
