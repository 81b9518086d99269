/// An encoder of a value as one field: a single value, or a list of single values. A value with
/// properties or lists of its own becomes JSON.
final class FieldEncoder: Encoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// The place of the value, for error messages.
  fileprivate let place: String
  fileprivate var value: FieldValue?
  /// Whether the value has asked for a container that a field does not have.
  private var isNested = false

  private init(in place: String) { self.place = place }

  /// Encodes a value as the value of a field.
  ///
  /// - Parameter place: The place of the value, for error messages.
  static func value(of value: some Encodable, in place: String) throws -> FieldValue {
    if let convertible = value as? any FieldConvertible { return try convertible.fieldValue }
    let encoder = FieldEncoder(in: place)
    try value.encode(to: encoder)
    if encoder.isNested { return .string(try NestedValue.text(of: value, in: place)) }
    guard let value = encoder.value else {
      throw EncodingError.refused("\(place) encodes no value")
    }
    return value
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nest().container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    value = .list([])
    return Elements(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValue(encoder: self) }

  /// The value is encoded as JSON after it has encoded itself here.
  fileprivate func nest() -> IgnoredValues {
    isNested = true
    return IgnoredValues(encoder: self)
  }
}

private struct SingleValue: SingleValueEncodingContainer {
  let encoder: FieldEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { encoder.value = .null }

  func encode<Value: Encodable>(_ value: Value) throws {
    encoder.value = try FieldEncoder.value(of: value, in: encoder.place)
  }
}

private struct Elements: UnkeyedEncodingContainer {
  let encoder: FieldEncoder
  var codingPath: [any CodingKey] { [] }
  private(set) var count = 0

  init(encoder: FieldEncoder) { self.encoder = encoder }

  mutating func encodeNil() { append(.null) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    let place = "element \(count) of \(encoder.place)"
    var element = try FieldEncoder.value(of: value, in: place)
    // No list of a database holds lists.
    if case .list = element { element = .string(try NestedValue.text(of: value, in: place)) }
    append(element)
  }

  private mutating func append(_ element: FieldValue) {
    guard case .list(let elements)? = encoder.value else { return }
    encoder.value = .list(elements + [element])
    count += 1
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy keyType: Key.Type
  ) -> KeyedEncodingContainer<Key> {
    encoder.nest().container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.nest() }
  mutating func superEncoder() -> any Encoder { encoder.nest().encoder }
}
