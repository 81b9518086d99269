internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FieldValue {
  /// Returns a list as a JSON array.
  ///
  /// - Throws: A `FieldValueError` for a value that JSON cannot represent.
  static func json(_ values: [FieldValue]) throws(FieldValueError) -> [UInt8] {
    var json = JSONWriter()
    try json.array { json throws(FieldValueError) in
      for value in values { try value.write(to: &json) }
    }
    return json.bytes
  }

  private func write(to json: inout JSONWriter) throws(FieldValueError) {
    switch self {
    case .null: json.null()
    case .integer(let number): json.integer(number)
    case .double(let number): json.number(try number.finite)
    case .string(let text): json.string(text)
    case .bytes(let content): json.base64(content.span)
    case .date(let date): json.string(try date.formatted)
    case .reference(let reference): json.string(reference.cellText)
    case .list: throw FieldValueError(self, isNot: "a value that a list can hold")
    }
  }
}

extension Double {
  /// The number itself.
  ///
  /// - Throws: A ``FieldValueError`` if it is not finite.
  var finite: Double {
    get throws(FieldValueError) {
      if isFinite { return self }
      throw FieldValueError(.double(self), isNot: "a finite number, as JSON requires")
    }
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
