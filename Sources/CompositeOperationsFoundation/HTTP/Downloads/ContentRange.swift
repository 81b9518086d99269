/// The part of the whole that a body contains (RFC 9110, section 14.4): `bytes 100-199/1000`.
struct ContentRange: Equatable {
  /// The offset of the first byte; nil if there is no part, as after 416.
  let first: Int?
  /// The length of the whole in bytes; nil if it is unknown.
  let total: Int?

  /// - Returns: Nil if the text is malformed.
  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    total = Self.number(parts[1])
    if parts[1] != "*", total == nil { return nil }
    if parts[0] == "*" {
      first = nil
      return
    }
    let places = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard places.count == 2, let start = Self.number(places[0]), let end = Self.number(places[1]),
      start <= end, end < total ?? .max
    else { return nil }
    first = start
  }

  /// - Returns: Nil if there are characters other than digits, or if the number is too large.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }
}
