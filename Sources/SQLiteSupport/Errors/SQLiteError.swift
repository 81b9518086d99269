internal import CSQLite

/// An error of a file, a connection or a statement.
///
/// Its description says what failed, with the path of the file, why, and what to do.
package struct SQLiteError: Error {
  /// The kinds of errors that callers treat differently.
  package enum Kind: Sendable {
    /// The task was cancelled.
    case interrupted
    /// Another connection holds a lock. Nothing was done; the same statement may succeed later.
    case busy
    case diskFull
    case inputOutput
    case corrupt
    case notADatabase
    /// The file does not exist.
    case fileNotFound
    /// The file cannot be opened for another reason than its permissions.
    case cannotOpen
    /// The folder of the file is not writable.
    case readOnlyFolder
    /// The permissions of the file, or the access of the connection, do not allow it.
    case notPermitted
    /// The schema uses functions that could do harm.
    case untrustedSchema
    /// The file belongs to another program.
    case foreignFile
    /// The schema of the file is newer than this program.
    case newerSchema
    /// The library does not have a feature that is needed.
    case unsupportedLibrary
    case outOfMemory
    /// A unique key, a foreign key, a check or NOT NULL is violated.
    case constraint
    /// A value or a statement is too large.
    case tooLarge
    /// A value does not match the type of its column.
    case typeMismatch
    /// A name contains a NUL.
    case invalidName
    /// The statement is invalid, or names something that does not exist.
    case invalidStatement
    case other
  }

  package let kind: Kind
  /// What failed, and why.
  package let problem: String
  /// What to do; nil if there is no advice.
  package let advice: String?
  /// SQLite's extended result code.
  package let code: Int32
  /// SQLite's message; empty if the error is not SQLite's.
  package let message: String
  /// The beginning of the statement; empty if there is none.
  package let sql: String
  /// The path of the database.
  package let file: String

  /// Creates an error for a result code of SQLite.
  package init(code: Int32, message: String, sql: String = "", file: String) {
    let sql = sql.count > 120 ? "\(sql.prefix(120))…" : sql
    let (kind, problem, advice) = Self.explanation(code, message, sql: sql, file: file)
    self.init(
      kind: kind, problem: problem, advice: advice, code: code, message: message, sql: sql,
      file: file)
  }

  /// Creates an error that SQLite does not report.
  package init(_ kind: Kind, _ problem: String, advice: String? = nil, file: String) {
    let code: Int32 =
      switch kind {
      case .invalidName: SQLITE_ERROR
      case .fileNotFound, .cannotOpen, .readOnlyFolder: SQLITE_CANTOPEN
      case .notPermitted: SQLITE_PERM
      case .foreignFile: SQLITE_NOTADB
      case .newerSchema: SQLITE_SCHEMA
      case .interrupted, .busy, .diskFull, .inputOutput, .corrupt, .notADatabase, .untrustedSchema,
        .unsupportedLibrary, .outOfMemory, .constraint, .tooLarge, .typeMismatch,
        .invalidStatement, .other:
        SQLITE_MISUSE
      }
    self.init(
      kind: kind, problem: problem, advice: advice, code: code, message: "", sql: "", file: file)
  }

  private init(
    kind: Kind, problem: String, advice: String?, code: Int32, message: String, sql: String,
    file: String
  ) {
    self.kind = kind
    self.problem = problem
    self.advice = advice
    self.code = code
    self.message = message
    self.sql = sql
    self.file = file
  }

  /// The result code without its extension.
  package var primaryCode: Int32 { code & 0xFF }

  /// Whether only the statement failed: another one, or the same one with other values, can succeed
  /// in the same transaction.
  package var isOfStatement: Bool {
    switch primaryCode {
    case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_ERROR: true
    default: false
    }
  }

  /// Whether a row refers, or would refer, to a row that does not exist.
  package var isForeignKeyViolation: Bool {
    // SQLite implements RESTRICT by an internal trigger, and reports that.
    code == Self.foreignKey || code == Self.trigger && message.hasPrefix("FOREIGN KEY")
  }

  /// Whether a row with the same primary key or row ID exists.
  package var isPrimaryKeyViolation: Bool { code == Self.primaryKey || code == Self.rowID }

  /// Whether a row with the same values of a UNIQUE constraint exists.
  package var isUniqueViolation: Bool { code == Self.unique }

  // The C macros of these codes are not imported.
  private static let foreignKey = SQLITE_CONSTRAINT | (3 << 8)
  private static let primaryKey = SQLITE_CONSTRAINT | (6 << 8)
  private static let trigger = SQLITE_CONSTRAINT | (7 << 8)
  private static let unique = SQLITE_CONSTRAINT | (8 << 8)
  private static let rowID = SQLITE_CONSTRAINT | (10 << 8)
}

extension SQLiteError: CustomStringConvertible {
  /// The problem, and the advice: a clause after a colon, or a sentence.
  package var description: String {
    guard let advice else { return problem }
    return "\(problem)\(advice.first?.isUppercase == true ? "." : ":") \(advice)"
  }
}
