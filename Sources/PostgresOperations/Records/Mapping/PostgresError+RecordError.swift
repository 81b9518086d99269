package import RecordOperations

extension PostgresError {
  /// The error for callers of a database: a ``RecordError``.
  ///
  /// - Parameter isAfterCommit: Whether a lost connection leaves open whether the request was
  ///   executed.
  package func translated(isAfterCommit: Bool) -> RecordError {
    switch kind {
    case .lost: RecordError(isAfterCommit ? .replyLost : .unavailable(description))
    case .notConnected where isTransient: RecordError(.unavailable(description))
    case .notConnected, .refused: RecordError(reason)
    }
  }

  private var reason: RecordError.Reason {
    switch code {
    // Lock timeouts and cancelled statements too.
    case "40001", "40P01", "55P03", "57014": return .unavailable(description)
    case "42501", "25006": return .notPermitted(description)
    default: break
    }
    switch code.prefix(2) {
    case "53", "57": return .unavailable(description)
    case "28": return .notPermitted(description)
    case "58", "XX", "F0": return .storage(description)
    default: return .invalid(description)
    }
  }

  /// Whether the error concerns a change, and not the whole request.
  var isOfChange: Bool {
    guard kind == .refused else { return false }
    return switch code.prefix(2) {
    // Data, constraints, triggers, checks of views, sizes, and permissions, which policies grant for single rows.
    // Errors of names and types too.
    case "21", "22", "23", "27", "42", "44", "54", "P0", "0A": !isOutdatedStatement
    default: false
    }
  }

  var isForeignKeyViolation: Bool { kind == .refused && (code == "23503" || code == "23001") }

  /// Whether a row with the same key exists.
  var isUniqueViolation: Bool { kind == .refused && code == "23505" }

  /// Whether a statement does not fit the tables, perhaps because another program has changed them.
  var isSchemaMismatch: Bool {
    guard kind == .refused else { return false }
    return isOutdatedStatement
      || ["42P01", "42703", "42804", "42883", "42704", "42809", "42846", "3F000"].contains(code)
  }
}
