internal import SystemSupport

/// A decoder of the value of one field: a single value, a list of single values, or JSON.
struct FieldDecoder: Decoder {
  fileprivate let field: FieldValue
  /// The place of the value, for error messages.
  fileprivate let place: String
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  private init(_ field: FieldValue, in place: String) {
    self.field = field
    self.place = place
  }

  /// Decodes a value of a type from the value of a field.
  ///
  /// - Parameter place: The place of the value, for error messages.
  static func value<Value: Decodable>(
    _ type: Value.Type, of field: FieldValue, in place: String
  ) throws -> Value {
    if let convertible = Value.self as? any FieldConvertible.Type,
      let value = try convertible.init(fieldValue: field) as? Value
    {
      return value
    }
    do { return try Value(from: FieldDecoder(field, in: place)) } catch is NestedValue.Needed {
      guard case .string(let text) = field else {
        throw FieldValueError(field, isNot: "the JSON of a \(type)")
      }
      do { return try NestedValue.value(type, of: text) } catch {
        let reason = (error as? DecodingError)?.text("it") ?? "\(error)"
        throw DecodingError.refused("\(place) is not the JSON of a \(type): \(reason)")
      }
    }
  }

  /// Decodes a value of a type from the name of a record: a string, a number or a UUID.
  static func value<Value: Decodable>(
    _ type: Value.Type, ofName name: String, in place: String
  ) throws -> Value {
    if let number = Int64(name), let value = try? value(type, of: .integer(number), in: place) {
      // Not if the name is another spelling of the number, such as 007.
      if "\(value)" == name { return value }
    }
    return try value(type, of: .string(name), in: place)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw NestedValue.Needed()
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .list(let values) = field else {
      if case .string(let text) = field, text.hasPrefix("[") { throw NestedValue.Needed() }
      throw FieldValueError(field, isNot: "a list")
    }
    return Elements(values: values, place: place)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }
}

private struct SingleValue: SingleValueDecodingContainer {
  let decoder: FieldDecoder
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { decoder.field == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try FieldDecoder.value(type, of: decoder.field, in: decoder.place)
  }
}

private struct Elements: UnkeyedDecodingContainer {
  let values: [FieldValue]
  let place: String
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }

  init(values: [FieldValue], place: String) {
    self.values = values
    self.place = place
  }

  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex == values.count }

  private var element: String { "element \(currentIndex) of \(place)" }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw DecodingError.refused("\(place) has no element \(currentIndex)") }
    guard values[currentIndex] == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard !isAtEnd else { throw DecodingError.refused("\(place) has no element \(currentIndex)") }
    let value = try FieldDecoder.value(type, of: values[currentIndex], in: element)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    throw NestedValue.Needed()
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw NestedValue.Needed()
  }
  mutating func superDecoder() throws -> any Decoder {
    throw NestedValue.Needed()
  }
}
