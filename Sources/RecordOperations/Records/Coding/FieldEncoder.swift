/// An encoder of a value as one field: a single value, or a list of single values.
final class FieldEncoder: Encoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// The place of the value, for error messages.
  fileprivate let place: String
  fileprivate var value: FieldValue?
  private var problem: (any Error)?

  private init(in place: String) { self.place = place }

  /// Encodes a value as the value of a field.
  ///
  /// - Parameter place: The place of the value, for error messages.
  static func value(of value: some Encodable, in place: String) throws -> FieldValue {
    if let convertible = value as? any FieldConvertible { return try convertible.fieldValue }
    let encoder = FieldEncoder(in: place)
    try value.encode(to: encoder)
    if let problem = encoder.problem { throw problem }
    guard let value = encoder.value else {
      throw EncodingError.refused("\(place) encodes no value")
    }
    return value
  }

  static func nesting(in place: String) -> String {
    "\(place) encodes a nested container, which no field can hold: make it a record of its own, or conform its type to FieldConvertible"
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    refuse(because: Self.nesting(in: place)).container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    value = .list([])
    return Elements(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValue(encoder: self) }

  fileprivate func refuse(because reason: String) -> IgnoredValues {
    problem = problem ?? EncodingError.refused(reason)
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
    append(try FieldEncoder.value(of: value, in: "element \(count) of \(encoder.place)"))
  }

  private mutating func append(_ element: FieldValue) {
    guard case .list(let elements)? = encoder.value else { return }
    encoder.value = .list(elements + [element])
    count += 1
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy keyType: Key.Type
  ) -> KeyedEncodingContainer<Key> {
    refuse().container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { refuse() }
  mutating func superEncoder() -> any Encoder { refuse().encoder }

  private func refuse() -> IgnoredValues {
    encoder.refuse(because: FieldEncoder.nesting(in: "element \(count) of \(encoder.place)"))
  }
}
