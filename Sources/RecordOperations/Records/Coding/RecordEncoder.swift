/// An encoder of the properties of a type as the fields of a record.
final class RecordEncoder: Encoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  private let record: RecordID
  private var fields: [String: FieldValue] = [:]
  private var problem: (any Error)?

  private init(of record: RecordID) { self.record = record }

  /// Returns the fields that a value encodes.
  ///
  /// - Throws: A ``FieldValueError`` if no field can hold a property; an `EncodingError` if the
  ///   value does not encode properties, or it encodes properties of properties; any error of the
  ///   type's own encoding.
  static func fields(
    of value: some Encodable, for record: RecordID
  ) throws -> [String: FieldValue] {
    let encoder = RecordEncoder(of: record)
    try value.encode(to: encoder)
    if let problem = encoder.problem { throw problem }
    return encoder.fields
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Fields(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    refuse(because: "\(record) cannot be encoded as a list: a record has named fields")
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    refuse(because: "\(record) cannot be encoded as a single value: a record has named fields")
  }

  /// Makes the encoding fail when it has finished: the methods that return containers cannot throw.
  fileprivate func refuse(because reason: String) -> IgnoredValues {
    problem = problem ?? EncodingError.refused(reason)
    return IgnoredValues(encoder: self)
  }

  fileprivate func refuse(nestedAt key: any CodingKey) -> IgnoredValues {
    refuse(
      because: """
        the type of \(record) encodes the field \(key.stringValue) by a nested container; make it a property of a \
        Codable type
        """)
  }

  fileprivate func set(_ value: some Encodable, for key: any CodingKey) throws {
    let name = key.stringValue
    do {
      fields[name] = try FieldEncoder.value(of: value, in: "the field \(name) of \(record)")
    } catch let error as FieldValueError { throw error.at(name, of: record) }
  }

  fileprivate func setNull(for key: any CodingKey) { fields[key.stringValue] = .null }
}

private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: RecordEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { encoder.setNull(for: key) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder.set(value, for: key)
  }

  // Encodes nil as null: a missing field would keep its old value.
  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    if let value { try encoder.set(value, for: key) } else { encoder.setNull(for: key) }
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try set(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try set(value, key) }

  private func set(_ value: (some Encodable)?, _ key: Key) throws {
    if let value { try encoder.set(value, for: key) } else { encoder.setNull(for: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.refuse(nestedAt: key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.refuse(nestedAt: key)
  }

  func superEncoder() -> any Encoder {
    encoder.refuse(because: "\(Key.self) requests a superclass encoder, which is not supported")
      .encoder
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder.refuse(nestedAt: key).encoder }
}

extension EncodingError {
  static func refused(_ reason: String) -> EncodingError {
    .invalidValue(reason, Context(codingPath: [], debugDescription: reason))
  }
}
