internal import CPostgres

extension PostgresError {
  /// Creates the error of a statement from a result of libpq.
  init(_ result: OpaquePointer, of statement: String) {
    let code = unsafe Self.field(result, .code) ?? ""
    let severity = unsafe Self.field(result, .severity) ?? ""
    // The server ends the connection after such an error. libpq's own errors have no code.
    let isLost = severity == "FATAL" || severity == "PANIC" || code.isEmpty
    let whole = unsafe PQresultErrorMessage(result).map { unsafe String(cString: $0) }
    var text = unsafe Self.oneLine(Self.field(result, .message) ?? whole ?? "no message")
    if let detail = unsafe Self.field(result, .detail) {
      text += "; \(Self.oneLine(detail))"
    }
    if let hint = unsafe Self.field(result, .hint) { text += "; \(Self.oneLine(hint))" }
    if let advice = Self.advice(for: code) { text += "; \(advice)" }
    if !code.isEmpty { text += " (\(code))" }
    self.init(
      isLost ? .lost : .refused, code: code,
      constraint: unsafe Self.field(result, .constraint),
      isLost
        ? "\(statement): the connection was lost, and the statement may have been executed: \(text)"
        : "\(statement): \(text)")
  }

  /// Creates the error of a connection that was lost during a request.
  static func lost(_ statement: String, _ reason: String) -> PostgresError {
    PostgresError(
      .lost,
      "\(statement): the connection was lost, and the statement may have been executed: "
        + oneLine(reason))
  }

  /// Creates the error of a failed connection attempt.
  ///
  /// - Parameter message: The message of libpq with the verbosity `PQERRORS_VERBOSE`, because that
  ///   one includes the code. It is the only part of the answer that libpq makes available.
  static func notConnected(_ message: String, to address: PostgresAddress) -> PostgresError {
    let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
    var text = oneLine(lines.joined(separator: "\n"))
    var code = ""
    // "FATAL:  3D000: database … does not exist", where the first word depends on the language.
    if let match = text.matches(of: #/:  ([0-9A-Z]{5}): /#).last {
      code = String(match.1)
      text.replaceSubrange(match.range, with: ": ")
    }
    let advice = advice(for: code) ?? adviceWithoutCode(text)
    return PostgresError(
      .notConnected, code: code,
      "cannot connect to \(address): \(text)" + (advice.map { "; \($0)" } ?? "")
        + (code.isEmpty ? "" : " (\(code))"))
  }

  /// The fields of an error: the macros `PG_DIAG_…`, which Swift does not import.
  private enum Field: Unicode.Scalar {
    case code = "C"
    /// Does not depend on the language of the server.
    case severity = "V"
    case message = "M"
    case detail = "D"
    case hint = "H"
    case constraint = "n"
  }

  private static func field(_ result: OpaquePointer, _ field: Field) -> String? {
    unsafe PQresultErrorField(result, Int32(field.rawValue.value)).map {
      unsafe String(cString: $0)
    }
  }

  /// Joins the lines of a message.
  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline)
      .map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: " ")
  }

  // MARK: Advice

  private static func advice(for code: String) -> String? {
    switch code {
    case "28P01": "check the user and the password in the address, PGPASSWORD or ~/.pgpass"
    case "28000": "check the user in the address, whether the role exists, and pg_hba.conf"
    case "3D000": "create the database with 'createdb NAME', or check the name in the address"
    case "42501": "grant the role the privilege, or use another role in the address"
    case "3F000": "install the schema, or check which database the address names"
    case "42P01", "42883":
      "check that the schema is installed, in the expected version, in this database"
    case "53300": "the server has no free connections; close some, or raise max_connections"
    case "53100": "free some space on the disk of the server"
    case "57P01", "57P02":
      "the server shuts down or an administrator ended the connection; try again"
    case "57P03": "the server starts up or shuts down; try again in a few seconds"
    case "25006": "the server is read-only; connect to the primary server"
    case "26000":
      "prepared statements are missing; a connection pooler must use session mode or support them"
    default: nil
    }
  }

  /// Returns advice for an error of libpq, which is in the language of this process.
  private static func adviceWithoutCode(_ text: String) -> String? {
    if text.contains("no password supplied") {
      return "add the password to the address, or set PGPASSWORD or ~/.pgpass"
    }
    if text.contains("could not translate host name") { return "check the host in the address" }
    if text.contains("Connection refused") || text.contains("No such file or directory") {
      return "start the server, or check the host and the port in the address"
    }
    return nil
  }
}
