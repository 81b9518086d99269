internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Lists as JSON text that other programs can read: `[1,"a",{"date":"2026-11-22T12:03:04.123Z"}]`.
extension FieldValue {
  /// Returns the JSON of a list element. Equal values have equal text, byte by byte.
  ///
  /// - Throws: A ``RecordError`` if a list cannot contain the value.
  func elementText() throws -> String {
    var json = JSONWriter(escaping: .sqlite)
    try writeElement(to: &json)
    return json.text
  }

  /// Returns the JSON of a list.
  ///
  /// - Parameter number: Returns the JSON of a double.
  /// - Throws: A ``RecordError`` if a list cannot contain one of the elements.
  package static func listText(
    _ elements: [FieldValue], number: (Double) -> String = \.elementText
  ) throws -> String {
    var json = JSONWriter(escaping: .sqlite)
    try json.array { json in
      for element in elements { try element.writeElement(to: &json, number) }
    }
    return json.text
  }

  private func writeElement(
    to json: inout JSONWriter, _ text: (Double) -> String = \.elementText
  ) throws {
    switch self {
    case .null: json.null()
    case .integer(let number): json.integer(number)
    case .double(let number):
      guard !number.isNaN else { throw RecordError(.invalid("it contains NaN")) }
      json.literal(text(number))
    case .string(let text): json.string(text)
    case .bytes(let bytes):
      json.object { json in
        json.name("bytes")
        json.base64(bytes.span)
      }
    case .date(let date):
      guard Date.texts.contains(date) else {
        throw RecordError(.invalid("it contains a date before the year 1 or after 9999"))
      }
      json.object { $0.member("date", date.text) }
    case .reference(let reference):
      guard reference.onDelete == .keep else {
        throw RecordError(.invalid("it contains a reference without the rule .keep"))
      }
      let text = try reference.id.referenceText()
      json.object { $0.member("reference", text) }
    case .list: throw RecordError(.invalid("it contains another list"))
    }
  }

  /// Parses a list; nil if the text is not a list in this format.
  package init?(listText: String) {
    guard case .list(let parts)? = JSONValue(parsing: listText) else { return nil }
    var elements: [FieldValue] = []
    for part in parts {
      guard let element = FieldValue(part) else { return nil }
      elements.append(element)
    }
    self = .list(elements)
  }

  private init?(_ element: JSONValue) {
    switch element {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .double(number)
    case .string(let text): self = .string(text)
    case .object(let members):
      guard members.count == 1, case (let key, .string(let text))? = members.first,
        let value = Self.object(key, text)
      else { return nil }
      self = value
    case .boolean, .list: return nil
    }
  }

  private static func object(_ key: String, _ text: String) -> FieldValue? {
    switch key {
    case "bytes": Data(base64Encoded: text).map { .bytes(Array($0)) }
    case "date": Date(text: text).map { .date($0) }
    case "reference": RecordID(referenceText: text).map { .reference(RecordReference($0)) }
    default: nil
    }
  }
}

extension Double {
  /// The shortest JSON text that is parsed as this number, and not as an integer. JSON has no
  /// infinity, so text for a number beyond the largest double represents it.
  package var elementText: String {
    if isInfinite { return self < 0 ? "-1e999" : "1e999" }
    var text: [UInt8] = []
    text.appendNumber(self)
    return String(decoding: text, as: UTF8.self)
  }
}

extension RecordID {
  /// Returns the text of a `.keep` reference: `Author/jane`.
  ///
  /// - Throws: A ``RecordError`` if the type is empty or contains a slash, or if the zone is not
  ///   the default one.
  package func referenceText() throws -> String {
    guard zone == .default else { throw RecordError(.invalid("it refers to another zone")) }
    guard !type.isEmpty, !type.utf8.contains(UInt8(ascii: "/")) else {
      throw RecordError(
        .invalid(
          "it refers to the type \(type.debugDescription), which is empty or contains a /"
        ))
    }
    return "\(type)/\(name)"
  }

  package init?(referenceText: String) {
    let bytes = referenceText.utf8
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "/")), mark > bytes.startIndex else {
      return nil
    }
    self.init(
      String(decoding: bytes[..<mark], as: UTF8.self),
      String(decoding: bytes[bytes.index(after: mark)...], as: UTF8.self))
  }
}

extension String {
  /// Whether it is JSON that no list can hold, such as an object, which a column of lists keeps as a text.
  package var isOtherJSON: Bool {
    JSONValue(parsing: self) != nil && FieldValue(listText: self) == nil
  }
}
