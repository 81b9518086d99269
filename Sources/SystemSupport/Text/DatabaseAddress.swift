/// An address of a database, such as `postgresql://app@db.example.org/library`.
package struct DatabaseAddress: Sendable {
  /// The scheme, in lowercase.
  package let scheme: String
  /// The address with its scheme in lowercase, which is the only form that libpq knows.
  package let text: String

  /// - Returns: Nil for a text that is a path.
  package init?(_ place: String) {
    guard let end = place.utf8.firstIndex(of: UInt8(ascii: ":")), end > place.startIndex,
      place[end...].hasPrefix("://")
    else { return nil }
    let isScheme = place[..<end].utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard isScheme else { return nil }
    scheme = place[..<end].lowercased()
    text = scheme + place[end...]
  }

  /// Whether it is the address of a PostgreSQL database.
  package var isPostgres: Bool { ["postgresql", "postgres"].contains(scheme) }
}
