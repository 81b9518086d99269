/// The name that identifies a run in its store.
///
/// ```swift
/// import DurableOperations
///
/// let id: RunID = "order-\(order.number)"
/// ```
///
/// It has at most 200 bytes of UTF-8, and no control characters. A store refuses other names with a
/// ``RunStoreError``.
public struct RunID: Hashable, Codable, Sendable {
  /// The text of the name.
  public let text: String

  /// Creates a name.
  public init(_ text: String) { self.text = text }

  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// Creates a name from a text that may be too long. The end of a long text becomes a hash.
  init(shortening text: String) { self.init(text.shortened(toBytes: Self.mostBytes)) }

  static let mostBytes = 200

  /// The problem of the name; nil if it is valid.
  var problem: String? {
    if text.isEmpty { return "it is empty" }
    if text.utf8.count > Self.mostBytes {
      return "it has \(text.utf8.count) bytes, and at most \(Self.mostBytes) are allowed"
    }
    if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "it contains a control character"
    }
    return nil
  }
}

extension RunID: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(text) }
}

extension RunID: CustomStringConvertible {
  public var description: String { text }
}

extension String {
  /// The text, or the beginning of a longer one with a hash of all of it.
  ///
  /// - Parameter count: The maximum number of bytes of UTF-8, more than 24.
  package func shortened(toBytes count: Int) -> String {
    if utf8.count <= count { return self }
    // FNV-1a, which is the same in every process. Swift's own hash is not.
    let hash = utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    let start = String(decoding: Array(utf8.prefix(count - 24)), as: UTF8.self)
    return start.filter { $0 != "\u{FFFD}" } + "~" + String(hash, radix: 16)
  }
}
