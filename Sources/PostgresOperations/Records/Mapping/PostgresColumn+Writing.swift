internal import RecordOperations
internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PostgresColumn {
  /// Returns the text of the value to store in the column for a field; nil for null.
  ///
  /// - Throws: A ``RecordError`` with the field, the type, the column and the value if the column
  ///   does not take it.
  func stored(_ value: FieldValue, of type: String) throws -> String? {
    guard isWritable else {
      throw RecordError(.invalid("the field \(name) of \(type) is computed: it cannot be set"))
    }
    if value == .null { return nil }
    if let problem = value.problem {
      throw RecordError(.invalid("the field \(name) of \(type) \(problem)"))
    }
    guard let stored = try text(for: value, in: type) else {
      throw RecordError(
        .invalid(
          "the field \(name) of \(type) is \(value.shortText), but its column takes \(expectation)")
      )
    }
    // Also for lists: JSON of PostgreSQL cannot contain it either.
    if stored.utf8.contains(0) || kind == .list && !isEncoded && value.hasNUL {
      throw RecordError(
        .invalid(
          "the field \(name) of \(type) contains a NUL (U+0000), which PostgreSQL cannot store"))
    }
    return stored
  }

  /// - Returns: Nil if the column does not take this kind of value.
  private func text(for value: FieldValue, in type: String) throws -> String? {
    switch (kind, value) {
    case (.integer(let bits), .integer(let number)):
      return number.fits(in: bits) ? "\(number)" : nil
    case (.boolean, .integer(let number)): return number == 0 || number == 1 ? "\(number)" : nil
    case (.double, .double(let number)): return number.postgresText
    case (.double, .integer(let number)): return Double(exactly: number)?.postgresText
    case (.real, .double(let number)):
      return Double(Float(number)) == number ? number.postgresText : nil
    case (.real, .integer(let number)):
      return Float(exactly: number).map { Double($0).postgresText }
    case (.text, .string(let text)): return encoded(text)
    case (.uuid, .string(let text)):
      return UUID(uuidString: text)?.uuidString.lowercased() == text ? text : nil
    case (.enumeration, .string(let text)), (.other, .string(let text)): return text
    case (.bytes, .bytes(let bytes)): return bytes.postgresText
    case (.date(let digits), .date(let date)):
      let factor = [1_000, 100, 10][min(digits, 2)]
      let milliseconds = Int64((date.timeIntervalSince1970 * 1_000).rounded())
      return digits >= 3 || milliseconds % Int64(factor) == 0 ? date.postgresText : nil
    case (.list, .list(let elements)):
      let elements = isEncoded ? elements.map { $0.mapTexts(PostgresText.encoded) } : elements
      do { return try FieldValue.listText(elements, number: \.postgresJSON) } catch let error
        as RecordError
      {
        throw RecordError(.invalid("the field \(name) of \(type): \(error)"))
      }
    // Texts of U+0000 have another form in tables that were created here.
    case (.list, .string(let text)) where !isEncoded && text.isOtherJSON: return text
    case (.date, .string(let text)) where text.isUnusualDate: return text
    case (.keptReference, .reference(let reference)) where reference.onDelete == .keep:
      do { return encoded(try reference.id.referenceText()) } catch let error as RecordError {
        throw RecordError(.invalid("the field \(name) of \(type): \(error)"))
      }
    case (.foreignKey(let type, let rule, let isInteger), .reference(let reference)):
      guard reference.onDelete == rule, reference.id == RecordID(type, reference.id.name) else {
        return nil
      }
      guard isInteger else { return encoded(reference.id.name) }
      return Int64(reference.id.name).flatMap { "\($0)" == reference.id.name ? "\($0)" : nil }
    default: return nil
    }
  }

  private var expectation: String {
    let what =
      switch kind {
      case .integer: "integers"
      case .boolean: "0 and 1"
      case .double, .real: "numbers that it represents exactly"
      case .text, .enumeration: "text"
      case .uuid: "UUIDs in lower case"
      case .bytes: "bytes"
      case .date(let digits): digits < 3 ? "dates with \(digits) digits of a second" : "dates"
      case .list: isEncoded ? "lists" : "lists, and other JSON as text"
      case .keptReference: "references with the rule .keep"
      case .foreignKey(let type, let rule, let isInteger):
        "references to \(type) with the rule .\(rule.rawValue)"
          + (isInteger ? " and an integer as the name" : "")
      case .null: "null"
      case .other: "texts in the form of PostgreSQL"
      }
    return "\(what) (\(declaredType))"
  }
}

extension FieldValue {
  /// Whether a list contains a text with a NUL.
  fileprivate var hasNUL: Bool {
    guard case .list(let elements) = self else { return false }
    return elements.contains { element in
      switch element {
      case .string(let text): text.utf8.contains(0)
      case .reference(let reference):
        reference.id.name.utf8.contains(0) || reference.id.type.utf8.contains(0)
      case .null, .integer, .double, .bytes, .date, .list: false
      }
    }
  }
}

extension String {
  /// Whether it is the text of a date that no field can hold as a date.
  fileprivate var isUnusualDate: Bool {
    let year = utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    // PostgreSQL takes digits alone as a date, too: 20261122.
    return self == "infinity" || self == "-infinity" || hasSuffix(" BC")
      || year.count > 4 && utf8[year.endIndex...].first == UInt8(ascii: "-")
  }
}

extension Int64 {
  /// Returns whether a signed integer of a number of bits can be the number.
  func fits(in bits: Int) -> Bool { (self << (64 - bits)) >> (64 - bits) == self }
}

extension Double {
  /// The number as PostgreSQL writes it.
  var postgresText: String {
    if isInfinite { return self < 0 ? "-Infinity" : "Infinity" }
    return isNaN ? "NaN" : "\(self)"
  }

  /// JSON that `jsonb` keeps as a number with a fraction: it writes exponents as digits, so that a
  /// large number would be read as an integer.
  var postgresJSON: String {
    guard let whole = Int64(exactly: self) else { return elementText }
    return "\(whole).0"
  }
}

extension [UInt8] {
  /// The bytes as PostgreSQL writes them: `\x00ff`.
  var postgresText: String {
    var text: [UInt8] = [UInt8(ascii: "\\"), UInt8(ascii: "x")]
    text.reserveCapacity(2 + count * 2)
    for byte in self {
      for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? digit + 48 : digit + 87) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
