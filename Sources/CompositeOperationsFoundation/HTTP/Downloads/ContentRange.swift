/// Which part of a thing a body is (RFC 9110, section 14.4): `bytes 100-199/1000`.
struct ContentRange: Equatable {
  /// The place of the first byte; nil if there is no part, as after 416.
  let first: Int?
  /// How long the whole is; nil if nobody knows.
  let total: Int?

  /// - Returns: nil if it cannot be read.
  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    total = Int(parts[1])
    if parts[1] != "*", total == nil { return nil }
    if parts[0] == "*" {
      first = nil
      return
    }
    let places = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard places.count == 2, let start = Int(places[0]), let end = Int(places[1]), start <= end
    else { return nil }
    first = start
  }
}
