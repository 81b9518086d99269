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
