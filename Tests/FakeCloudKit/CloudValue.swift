package import Foundation

/// A JSON value. Integers keep all 64 bits, and other numbers their exact `Double`.
///
/// JSON does not distinguish `1` from `1.0`, so both are ``integer(_:)``.
package enum CloudValue: Sendable, Equatable, Decodable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([CloudValue])
  case object([String: CloudValue])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let object = try? container.decode([String: CloudValue].self) {
      self = .object(object)
    } else if let array = try? container.decode([CloudValue].self) {
      self = .array(array)
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let integer = try? container.decode(Int64.self) {
      // The integer would lose the sign of -0.0.
      let double = integer == 0 ? try container.decode(Double.self) : 0
      self = double.sign == .minus ? .double(double) : .integer(integer)
    } else {
      self = .double(try container.decode(Double.self))
    }
  }

  /// The value as JSON text with sorted keys. A ``double(_:)`` has a fraction or an exponent.
  ///
  /// - Precondition: All numbers are finite.
  package var data: Data {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return Data(bytes)
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += "\(value)".utf8
    case .double(let value):
      precondition(value.isFinite, "the number must be finite (was \(value))")
      bytes += "\(value)".utf8
    case .string(let value): Self.write(value, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    bytes.append(quote)
    for byte in text.utf8 {
      if byte == quote || byte == backslash {
        bytes += [backslash, byte]
      } else if byte < 0x20 {
        bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
      } else {
        bytes.append(byte)
      }
    }
    bytes.append(quote)
  }

  /// The member of an object; nil if there is none, and for other values.
  package subscript(key: String) -> CloudValue? {
    if case .object(let object) = self { object[key] } else { nil }
  }
}

extension CloudValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(arrayLiteral elements: CloudValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, CloudValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
