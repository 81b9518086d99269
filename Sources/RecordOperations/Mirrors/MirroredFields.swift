internal import SystemSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The fields of a record as JSON that keeps the kind of each value, without nulls:
/// `{"pages":249,"title":"Persuasion","lent":{"date":"2026-11-22T12:03:04.123Z"}}`.
enum MirroredFields {
  /// - Parameter hasNulls: Whether nulls are written.
  static func text(of fields: [String: FieldValue], withNulls hasNulls: Bool = false) -> String {
    String(decoding: bytes(of: fields, withNulls: hasNulls), as: UTF8.self)
  }

  /// - Parameter hasNulls: Whether nulls are written.
  static func bytes(
    of fields: [String: FieldValue], withNulls hasNulls: Bool = false
  ) -> [UInt8] {
    var json = JSONWriter(capacity: 32 * fields.count)
    json.object { json in
      for (key, value) in fields {
        if case .null = value, !hasNulls { continue }
        json.name(key)
        write(value, to: &json)
      }
    }
    return json.bytes
  }

  static func text(of value: FieldValue) -> String {
    var json = JSONWriter()
    write(value, to: &json)
    return json.text
  }

  private static func write(_ value: FieldValue, to json: inout JSONWriter) {
    switch value {
    case .null: json.null()
    case .integer(let number): json.integer(number)
    case .double(let number) where number.isNaN: json.object { $0.member("double", "NaN") }
    case .double(let number): json.literal(number.elementText)
    case .string(let text): json.string(text)
    case .bytes(let bytes):
      json.object { json in
        json.name("bytes")
        json.base64(bytes.span)
      }
    case .date(let date): json.object { $0.member("date", date.text) }
    case .reference(let reference):
      let (id, rule) = (reference.id, reference.onDelete.rawValue)
      json.object { $0.member("reference", [id.type, id.name, id.zone.name, rule]) }
    case .list(let elements):
      json.array { json in for element in elements { write(element, to: &json) } }
    }
  }

  /// Returns the fields of a text.
  ///
  /// - Throws: A ``RecordError`` if the text is not in this format.
  static func fields(in text: String) throws -> [String: FieldValue] {
    guard case .object(let members)? = JSONValue(parsing: text) else { throw malformed(text) }
    return try members.mapValues { value in
      guard let value = fieldValue(value) else { throw malformed(text) }
      return value
    }
  }

  /// Returns the value of a text.
  ///
  /// - Throws: A ``RecordError`` if the text is not in this format.
  static func value(in text: String) throws -> FieldValue {
    guard let value = JSONValue(parsing: text).flatMap(fieldValue) else { throw malformed(text) }
    return value
  }

  private static func fieldValue(_ value: JSONValue) -> FieldValue? {
    switch value {
    case .null: return .null
    case .integer(let number): return .integer(number)
    case .double(let number): return .double(number)
    case .string(let text): return .string(text)
    case .list(let elements):
      let values = elements.compactMap(fieldValue)
      return values.count == elements.count ? .list(values) : nil
    case .object(let members):
      switch members.first {
      case ("bytes", .string(let text))?:
        return Data(base64Encoded: text).map { .bytes(Array($0)) }
      // No local file can hold it, but a remote database may have it.
      case ("double", .string("NaN"))?: return .double(.nan)
      case ("date", .string(let text))?: return Date(text: text).map { .date($0) }
      case ("reference", .list(let parts))?: return reference(parts)
      default: return nil
      }
    case .boolean: return nil
    }
  }

  private static func reference(_ parts: [JSONValue]) -> FieldValue? {
    let texts = parts.compactMap { if case .string(let text) = $0 { text } else { nil } }
    guard texts.count == 4, let rule = RecordReference.DeleteRule(rawValue: texts[3]) else {
      return nil
    }
    let id = RecordID(texts[0], texts[1], in: RecordZone(texts[2]))
    return .reference(RecordReference(id, onDelete: rule))
  }

  private static func malformed(_ text: String) -> RecordError {
    RecordError(
      .storage(
        """
        a table of the mirror is damaged: \(text.prefix(80)) are not the fields of a record; remove \
        the tables whose names begin with _record_mirror to compare both databases again
        """
      ))
  }
}
