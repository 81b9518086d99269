/// A decoder of the properties of a type from the fields of a record.
struct RecordDecoder: Decoder {
  let record: DatabaseRecord
  /// The key whose value is the name of the record; `nil` if there is none.
  let nameKey: String?
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ record: DatabaseRecord, nameKey: String?) {
    self.record = record
    self.nameKey = nameKey
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Fields(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.refused(
      "\(record.id) cannot be decoded as a list: a record has named fields")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw DecodingError.refused(
      "\(record.id) cannot be decoded as a single value: a record has named fields")
  }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RecordDecoder
  var codingPath: [any CodingKey] { [] }

  private var record: DatabaseRecord { decoder.record }

  var allKeys: [Key] {
    (record.keys + [decoder.nameKey].compactMap(\.self)).compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool {
    key.stringValue == decoder.nameKey || record.has(key.stringValue)
  }

  func decodeNil(forKey key: Key) -> Bool {
    key.stringValue != decoder.nameKey && record[key.stringValue] == .null
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let name = key.stringValue
    let field = "the field \(name) of \(record.id)"
    if name == decoder.nameKey {
      return try FieldDecoder.value(type, ofName: record.id.name, in: "the name of \(record.id)")
    }
    do { return try FieldDecoder.value(type, of: record[name], in: field) } catch let error
      as FieldValueError
    { throw error.at(name, of: record.id) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> { throw nested(key) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw nested(key)
  }
  func superDecoder() throws -> any Decoder {
    throw DecodingError.refused("\(Key.self) requests a superclass decoder, which is not supported")
  }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw nested(key) }

  private func nested(_ key: Key) -> DecodingError {
    .refused(
      """
      the type of \(record.id) decodes the field \(key.stringValue) by a nested container; make it a property of a \
      Codable type
      """)
  }
}

extension DecodingError {
  static func refused(_ reason: String) -> DecodingError {
    .dataCorrupted(Context(codingPath: [], debugDescription: reason))
  }
}
