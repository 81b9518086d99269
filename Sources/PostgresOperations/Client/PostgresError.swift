/// The failure of a request to a PostgreSQL server.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// No connection could be made, so the request was not sent.
    case notConnected
    /// The connection was lost after the request was sent: it may have been executed.
    case lost
    /// The server refused the request; nothing of it was executed.
    case refused
  }

  package let kind: Kind
  /// The code of the server, such as `40P01`; empty if the server has not answered.
  package let code: String
  package let description: String

  package init(_ kind: Kind, code: String = "", _ description: String) {
    self.kind = kind
    self.code = code
    self.description = description
  }
}
