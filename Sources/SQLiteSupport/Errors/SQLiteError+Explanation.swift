internal import CSQLite

extension SQLiteError {
  /// A kind, what failed and why, and what to do.
  typealias Explanation = (kind: Kind, problem: String, advice: String?)

  /// Returns the explanation of a result code.
  static func explanation(
    _ code: Int32, _ message: String, sql: String, file: String
  ) -> Explanation {
    // This concerns a statement, or the schema of the file, which SQLite parses with it.
    if message.contains("unsafe use of") {
      return (
        .untrustedSchema, "\(message) by the schema of \(file)",
        "set trustsSchema if you trust the source of the file"
      )
    }
    let plain = "SQLite \(code): \(message)\(sql.isEmpty ? "" : " (\(sql))") in \(file)"
    switch code & 0xFF {
    case SQLITE_INTERRUPT: return (.interrupted, plain, nil)
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (.busy, "\(file) is locked by another connection (\(message))", nil)
    case SQLITE_PROTOCOL:
      return (.busy, "too many connections lock \(file) at once (\(message))", nil)
    case SQLITE_FULL,
      SQLITE_IOERR where code == sharedMemorySize:
      return (
        .diskFull, "the disk of \(file) is full, or the file has reached its maximum size",
        "free some space"
      )
    case SQLITE_IOERR:
      return (
        .inputOutput, "\(file) could not be read or written (\(message), \(code))", "check its disk"
      )
    case SQLITE_CORRUPT:
      return (
        .corrupt, "\(file) is damaged (\(message))",
        "restore a backup, or try .recover in sqlite3"
      )
    case SQLITE_NOTADB:
      return (
        .notADatabase, "\(file) is not an SQLite database, or is encrypted", "check the path"
      )
    case SQLITE_CANTOPEN: return failedOpening(SQLiteFile(file), message)
    case SQLITE_NOMEM: return (.outOfMemory, "out of memory for \(file)", nil)
    case SQLITE_READONLY: return readOnly(code, message, file)
    case SQLITE_PERM, SQLITE_AUTH:
      return (.notPermitted, "\(file) cannot be written (\(message))", nil)
    case SQLITE_TOOBIG:
      return (.tooLarge, "a value or a statement is too large for SQLite (\(message))", nil)
    case SQLITE_CONSTRAINT: return (.constraint, constraint(code, message), nil)
    case SQLITE_MISMATCH:
      return (.typeMismatch, "a value does not match the type of its column (\(message))", nil)
    case SQLITE_ERROR:
      return missingObject(message, file) ?? (.invalidStatement, plain, nil)
    case SQLITE_RANGE: return (.invalidStatement, plain, nil)
    default: return (.other, plain, nil)
    }
  }

  /// `SQLITE_IOERR_SHMSIZE`, which Swift does not import: the disk has no room for the index of the
  /// write-ahead log.
  private static var sharedMemorySize: Int32 { SQLITE_IOERR | 19 << 8 }

  // MARK: Files

  private static func failedOpening(_ file: SQLiteFile, _ message: String) -> Explanation {
    if file.isMissing, SQLiteFile(file.folder).isMissing {
      return (
        .fileNotFound, "\(file.path) cannot be created: no such folder: \(file.folder)",
        "Create it first"
      )
    }
    if !file.hasWritableFolder {
      return (
        .readOnlyFolder,
        file.isMissing
          ? "\(file.path) cannot be created: its folder is not writable"
          : unwritableFolder(file.path), nil
      )
    }
    return (.cannotOpen, "\(file.path) could not be opened: \(message)", nil)
  }

  private static func readOnly(_ code: Int32, _ message: String, _ file: String) -> Explanation {
    // The C macros of these codes are not imported.
    switch code >> 8 {
    case 6: return (.readOnlyFolder, unwritableFolder(file), nil)
    case 3:
      return (
        .notPermitted,
        """
        \(file) cannot be read here: a transaction was interrupted, and SQLite must roll it back \
        in the file, which is not writable
        """, "Open the file once where it can be written"
      )
    default: return (.notPermitted, "\(file) cannot be written (\(message))", nil)
    }
  }

  private static func unwritableFolder(_ file: String) -> String {
    "\(file) cannot be written: SQLite must create files in its folder, which is not writable"
  }

  // MARK: Statements

  /// Returns the explanation of a statement that needs something which the database or SQLite does
  /// not have; nil for other errors.
  ///
  /// SQLite has one code for all of them, so only its messages distinguish them.
  private static func missingObject(_ message: String, _ file: String) -> Explanation? {
    for (words, kind) in partsOfPrograms where message.hasPrefix(words) {
      return (
        .invalidStatement,
        """
        \(file) uses the \(kind) \(message.dropFirst(words.count)), which is part of the program \
        that created the file
        """, "use that program instead"
      )
    }
    for (words, kind) in [("no such table: ", "table"), ("no such column: ", "column")]
    where message.hasPrefix(words) {
      let name = message.dropFirst(words.count)
      return (
        .invalidStatement,
        """
        a view, trigger or foreign key of \(file) uses the \(kind) \
        \(name.hasPrefix("main.") ? name.dropFirst(5) : name), which does not exist
        """, "create it, or drop the object that uses it"
      )
    }
    if message.hasPrefix("foreign key mismatch") {
      return (
        .invalidStatement,
        "\(message), where the referenced columns are neither the primary key nor unique (\(file))",
        nil
      )
    }
    for words in limits where message.hasPrefix(words) {
      return (
        .invalidStatement, "a limit of SQLite is exceeded (\(message))",
        "use fewer columns or conditions"
      )
    }
    return nil
  }

  private static let partsOfPrograms = [
    ("no such collation sequence: ", "collation"), ("no such function: ", "function"),
    ("unknown function: ", "function"), ("no such module: ", "module"),
    ("no such tokenizer: ", "tokenizer"),
  ]
  private static let limits = [
    "too many ", "Expression tree is too large", "parser stack overflow", "at most ",
  ]

  /// The violated constraint. SQLite names the columns after a colon.
  private static func constraint(_ code: Int32, _ message: String) -> String {
    let columns = message.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? message
    return switch code >> 8 {
    case 5: "\(columns) must not be null"
    case 6, 8, 10: "another record has the same \(columns)"
    case 1: "CHECK constraint failed: \(columns)"
    case 12: "a value does not match the type of its column: \(message)"
    default: message
    }
  }
}
