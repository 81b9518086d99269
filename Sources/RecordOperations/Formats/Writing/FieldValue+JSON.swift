#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension [UInt8] {
  /// Appends a list as a JSON array.
  ///
  /// - Throws: A `FieldValueError` for a value that JSON cannot represent.
  mutating func appendJSON(_ values: [FieldValue]) throws(FieldValueError) {
    append(.openingBracket)
    for (index, value) in values.enumerated() {
      if index > 0 { append(.comma) }
      try appendJSON(value)
    }
    append(.closingBracket)
  }

  private mutating func appendJSON(_ value: FieldValue) throws(FieldValueError) {
    switch value {
    case .null: self += "null".utf8
    case .integer(let number): appendNumber(number)
    case .double(let number): try appendJSON(number)
    case .string(let text): appendJSON(text)
    case .bytes(let content):
      append(.quote)
      appendBase64(content.span)
      append(.quote)
    case .date(let date): appendJSON(try date.formatted)
    case .reference(let reference): appendJSON(reference.cellText)
    case .list: throw FieldValueError(value, isNot: "a value that a list can hold")
    }
  }

  mutating func appendJSON(_ number: Double) throws(FieldValueError) {
    guard number.isFinite else {
      throw FieldValueError(.double(number), isNot: "a finite number, as JSON requires")
    }
    appendNumber(number)
  }

  mutating func appendJSON(_ text: String) {
    let bytes = Array(text.utf8)
    appendJSONString(bytes.span)
  }
}

extension Date {
  /// The text of the date in a file.
  var formatted: String {
    get throws(FieldValueError) {
      // This also refuses NaN, which is in no range.
      guard Self.texts.contains(self), Self.texts.contains(toTheMillisecond) else {
        throw FieldValueError(
          .double(timeIntervalSince1970),
          isNot: "a date in the years 1 to 9999, in seconds since 1970")
      }
      return text
    }
  }
}

extension RecordReference {
  /// The text of the reference in a file: the name for a foreign key, which refers to one table
  /// only; otherwise the type and the name.
  var cellText: String { onDelete == .keep ? "\(id.type)/\(id.name)" : id.name }
}
