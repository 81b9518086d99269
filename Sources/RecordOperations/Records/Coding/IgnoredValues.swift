/// A container that discards its contents, for places where nothing can be encoded.
///
/// The methods that return containers cannot throw, so the encoder throws when it has finished.
struct IgnoredValues: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  let encoder: any Encoder
  let codingPath: [any CodingKey] = []
  let count = 0

  init(encoder: any Encoder) { self.encoder = encoder }

  func container<Key: CodingKey>(keyedBy keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(IgnoredFields<Key>(encoder: encoder))
  }

  func encodeNil() {}
  func encode<Value: Encodable>(_ value: Value) {}

  func nestedContainer<Key: CodingKey>(
    keyedBy keyType: Key.Type
  ) -> KeyedEncodingContainer<Key> { container(keyedBy: keyType) }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { encoder }
}

private struct IgnoredFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: any Encoder
  let codingPath: [any CodingKey] = []

  init(encoder: any Encoder) { self.encoder = encoder }

  private var values: IgnoredValues { IgnoredValues(encoder: encoder) }

  func encodeNil(forKey key: Key) {}
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) {}

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> { values.container(keyedBy: keyType) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { values }
  func superEncoder() -> any Encoder { encoder }
  func superEncoder(forKey key: Key) -> any Encoder { encoder }
}
