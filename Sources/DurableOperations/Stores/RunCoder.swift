internal import Foundation

/// The encoding of the states, results and errors in a store.
///
/// The default is JSON. An implementation can encrypt the text, for example. Equal values must have
/// equal texts, because a state is stored only if its text has changed.
public protocol RunCoder: Sendable {
  /// Encodes a value.
  ///
  /// - Throws: An error that says why the value cannot be encoded.
  func encode(_ value: some Encodable) throws -> String

  /// Decodes a value.
  ///
  /// - Throws: An error that says why the text is not such a value.
  func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value
}

/// JSON with sorted keys. Numbers that JSON does not have are the texts "inf", "-inf" and "nan".
public struct JSONRunCoder: RunCoder {
  /// Creates a coder.
  public init() {}

  public func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  public func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(type, from: Data(text.utf8))
  }
}
