/// A link of the header `Link` (RFC 8288, section 3).
struct PageLink {
  let address: String
  /// The relations of the link, in lower case.
  let relations: [String]

  /// Returns the links of a header, up to the first invalid one.
  static func all(in header: String) -> [PageLink] {
    var rest = header[...]
    var links: [PageLink] = []
    while true {
      // Empty elements are allowed.
      rest = rest.drop { " \t,".contains($0) }
      guard let link = next(in: &rest) else { return links }
      links.append(link)
    }
  }

  private static func next(in rest: inout Substring) -> PageLink? {
    // Between angle brackets, commas and semicolons are part of the address.
    guard rest.popFirst() == "<", let end = rest.firstIndex(of: ">") else { return nil }
    let address = String(rest[..<end])
    rest = rest[rest.index(after: end)...]
    var relations: [String]?
    while true {
      rest = rest.drop { " \t".contains($0) }
      guard rest.first == ";" else { break }
      rest = rest.dropFirst().drop { " \t".contains($0) }
      let name = rest.prefix { !" \t=;,".contains($0) }.lowercased()
      rest = rest.drop { !" \t=;,".contains($0) }.drop { " \t".contains($0) }
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop { " \t".contains($0) }
      let value = value(in: &rest)
      // Only the first one counts.
      if name == "rel", relations == nil {
        relations = value.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
      }
    }
    return PageLink(address: address, relations: relations ?? [])
  }

  /// Returns a token or the contents of a quoted string.
  private static func value(in rest: inout Substring) -> String {
    guard rest.first == "\"" else {
      defer { rest = rest.drop { !" \t;,".contains($0) } }
      return String(rest.prefix { !" \t;,".contains($0) })
    }
    rest.removeFirst()
    var value = ""
    while let character = rest.popFirst(), character != "\"" {
      if character == "\\", let escaped = rest.popFirst() {
        value.append(escaped)
      } else {
        value.append(character)
      }
    }
    return value
  }
}
