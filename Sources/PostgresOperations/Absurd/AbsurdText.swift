internal import DurableOperations
internal import Foundation
internal import SystemSupport

/// The encoded values of runs as `jsonb` can store them.
///
/// JSON is stored as it is, so that other programs can read it. Other texts, and JSON with U+0000,
/// which `jsonb` refuses, are stored as base64 in an object, `{"z": "…"}`. So are objects that look
/// like that.
struct AbsurdText: Sendable {
  /// Whether the texts of the coder are JSON.
  private let isJSON: Bool

  init(_ coder: any RunCoder) { isJSON = coder is JSONRunCoder }

  /// The text as a JSON value.
  func stored(_ text: String) -> String {
    isJSON && !Self.needsWrapping(text) ? text : Self.wrapped(text)
  }

  /// Also of JSON that a person has written, with spaces and escapes.
  private static func needsWrapping(_ text: String) -> Bool {
    if text.contains("\\u0000") { return true }
    let value = text.drop(while: \.isWhitespace)
    guard value.first == "{" else { return false }
    let member = value.dropFirst().drop(while: \.isWhitespace)
    return member.hasPrefix(#""z""#) || member.hasPrefix(#""\u00"#)
  }

  private static func wrapped(_ text: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.name("z")
      json.base64(Array(text.utf8).span)
    }
    return json.text
  }

  private static let start = #"{"z": ""#

  /// The text of a stored JSON value, which the server prints with spaces.
  static func text(_ stored: String) -> String {
    guard stored.hasPrefix(start), stored.hasSuffix("\"}"),
      let data = Data(base64Encoded: String(stored.dropFirst(start.count).dropLast(2)))
    else { return compact(stored) }
    return String(decoding: data, as: UTF8.self)
  }

  /// JSON without the spaces between its values.
  private static func compact(_ json: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.utf8.count)
    var (isInString, isEscaped) = (false, false)
    for byte in json.utf8 {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      } else if isInString {
        isEscaped = byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: " ") {
        continue
      }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A text without U+0000, which `jsonb` refuses, for names and reasons.
  static func withoutNull(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{2400}") : text
  }
}
