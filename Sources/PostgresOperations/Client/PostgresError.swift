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
  /// The code of the server (SQLSTATE), such as `40P01`; empty if the server has not answered.
  package let code: String
  /// The name of the violated constraint; nil if the error is of another kind.
  let constraint: String?
  package let description: String

  package init(
    _ kind: Kind, code: String = "", constraint: String? = nil, _ description: String
  ) {
    self.kind = kind
    self.code = code
    self.constraint = constraint
    self.description = description
  }
}

extension PostgresError {
  /// Whether the same request may succeed later without a change of the program, its address or the
  /// database.
  package var isTransient: Bool {
    switch kind {
    case .lost: true
    // Lack of resources, interventions such as a shutdown, and system errors.
    case .notConnected: code.isEmpty || ["53", "57", "58"].contains(code.prefix(2))
    case .refused: code == "40001" || code == "40P01" || isOutdatedStatement
    }
  }

  /// The same error for a request that was not sent.
  var beforeRequest: PostgresError {
    kind == .lost
      ? PostgresError(
        .notConnected, code: code,
        "the request was not sent, because of an earlier failure: \(description)")
      : self
  }

  /// Whether nothing was executed because of concurrent transactions, so that the same statement may
  /// succeed at once.
  var isConflict: Bool { kind == .refused && (code == "40001" || code == "40P01") }

  /// Whether a prepared statement does not fit the schema any more. A new connection prepares it
  /// again.
  var isOutdatedStatement: Bool {
    kind == .refused && (code == "26000" || code == "0A000" && description.contains("cached plan"))
  }
}
