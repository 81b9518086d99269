/// One of the places that the header `Link` names (RFC 8288, section 3).
struct PageLink {
  let address: String
  /// What the place is to the page, in small letters.
  let relations: [String]

  /// The links of a header, up to the first thing that is none.
  static func all(in header: String) -> [PageLink] {
    var rest = header[...]
    var links: [PageLink] = []
    while true {
      // Empty ones are allowed.
      rest = rest.drop { " \t,".contains($0) }
      guard let link = next(in: &rest) else { return links }
      links.append(link)
    }
  }

  private static func next(in rest: inout Substring) -> PageLink? {
    // Between the brackets a comma and a semicolon are part of the address.
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
      // Of several the first one counts.
      if name == "rel", relations == nil {
        relations = value.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
      }
    }
    return PageLink(address: address, relations: relations ?? [])
  }

  /// A word, or a text in quotes.
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
