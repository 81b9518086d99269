/// An address of a database, such as `postgresql://app@db.example.org/library`, or
/// `host=db.example.org dbname=library` for PostgreSQL.
package struct DatabaseAddress: Sendable {
  /// The scheme, in lowercase.
  package let scheme: String
  /// The address with its scheme in lowercase, which is the only form that libpq knows.
  package let text: String

  /// - Returns: Nil for a text that is a path. A path that begins as an address of PostgreSQL is one if `./` precedes
  ///   it.
  package init?(_ place: String) {
    if Self.hasKeyword(place) {
      (scheme, text) = ("postgresql", place)
      return
    }
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

  /// Whether a text begins with a parameter of libpq, such as `host=`.
  private static func hasKeyword(_ place: String) -> Bool {
    guard let equal = place.firstIndex(of: "=") else { return false }
    let name = place[..<equal].drop(while: \.isWhitespace)
    // libpq refuses capitals, with an error that hides the password.
    let keyword = name.prefix { !$0.isWhitespace }.lowercased()
    let isKnown =
      keywords.contains(keyword) || families.contains { keyword.hasPrefix($0) }
    return isKnown && name.drop { !$0.isWhitespace }.allSatisfy(\.isWhitespace)
  }

  private static let keywords: Set<String> = [
    "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname",
    "fallback_application_name", "host", "hostaddr", "load_balance_hosts", "options",
    "port", "replication", "require_auth", "requirepeer", "service", "servicefile",
    "target_session_attrs", "tcp_user_timeout", "user",
  ]
  private static let families = ["gss", "keepalives", "krb", "oauth_", "pass", "scram_", "ssl"]

  /// Whether it is the address of a PostgreSQL database.
  package var isPostgres: Bool { ["postgresql", "postgres"].contains(scheme) }
}
