#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value that has properties or lists of its own: a field holds its JSON, as a string.
enum NestedValue {
  /// A decoder of a field was asked for something that only JSON has.
  struct Needed: Error {}

  /// The JSON of a value: the same text for equal values, except for sets in them, whose order is not defined. Dates
  /// are as in other fields.
  ///
  /// - Parameter place: The place of the value, for error messages.
  static func text(of value: some Encodable, in place: String) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      guard Date.texts.contains(date) else {
        throw EncodingError.refused(
          "\(place) has a date that is not between the years 1 and 9999")
      }
      var container = encoder.singleValueContainer()
      try container.encode(date.text)
    }
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Decodes a value from its JSON.
  static func value<Value: Decodable>(_ type: Value.Type, of text: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      if let date = Date(importedText: text) { return date }
      throw DecodingError.refused("\(text.shortText) is not a date in ISO 8601")
    }
    return try decoder.decode(type, from: Data(text.utf8))
  }
}
