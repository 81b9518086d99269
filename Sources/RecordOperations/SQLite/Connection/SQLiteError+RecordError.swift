internal import CSQLite

extension SQLiteError {
  /// The error for callers of the database: a ``RecordError``, or a `CancellationError` after an
  /// interruption.
  package var translated: any Error {
    if primaryCode == SQLITE_INTERRUPT { return CancellationError() }
    return RecordError(reason)
  }

  /// Whether the error concerns the whole request, and not only one record.
  var endsRequest: Bool {
    switch primaryCode {
    case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_ERROR: false
    default: true
    }
  }

  /// Whether a record refers, or would refer, to a record that does not exist.
  var isReferenceViolation: Bool {
    // SQLite implements RESTRICT by an internal trigger, and reports that.
    code == Self.foreignKey || code == Self.trigger && message.hasPrefix("FOREIGN KEY")
  }

  /// Whether a record with the same key exists. Duplicates in other columns do not count.
  var isDuplicate: Bool { primaryCode == SQLITE_CONSTRAINT && [6, 10].contains(code >> 8) }

  /// Whether SQLite cannot create a file in the folder of the database.
  var isUnwritableFolder: Bool { code == Self.readOnlyFolder }

  // The C macros of these codes are not imported.
  private static let foreignKey = SQLITE_CONSTRAINT | (3 << 8)
  private static let trigger = SQLITE_CONSTRAINT | (7 << 8)
  private static let readOnlyFolder = SQLITE_READONLY | (6 << 8)
  private static let readOnlyRollback = SQLITE_READONLY | (3 << 8)

  private var reason: RecordError.Reason {
    // This concerns a statement, or the schema of the file, which SQLite parses with it.
    if message.contains("unsafe use of") {
      return .notPermitted(
        "\(message) by the schema of \(file): set trustsSchema if you trust the source of the file"
      )
    }
    return switch primaryCode {
    case SQLITE_BUSY, SQLITE_LOCKED:
      .unavailable("\(file) is locked by another connection (\(message))")
    case SQLITE_PROTOCOL: .unavailable("too many connections lock \(file) at once (\(message))")
    case SQLITE_FULL:
      .storage(
        "the disk of \(file) is full, or the file has reached its maximum size: free some space")
    case SQLITE_IOERR:
      .storage("\(file) could not be read or written (\(message), \(code)): check its disk")
    case SQLITE_CORRUPT:
      .storage("\(file) is damaged (\(message)): restore a backup, or try .recover in sqlite3")
    case SQLITE_NOTADB:
      .storage("\(file) is not an SQLite database, or is encrypted: check the path")
    case SQLITE_CANTOPEN: unopened
    case SQLITE_NOMEM: .storage("out of memory for \(file)")
    case SQLITE_READONLY where isUnwritableFolder: .notPermitted(unwritableFolder)
    case SQLITE_READONLY where code == Self.readOnlyRollback:
      .notPermitted(
        """
        \(file) cannot be read here: a transaction was interrupted, and SQLite must roll it back \
        in the file, which is not writable. Open the file once where it can be written
        """
      )
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
      .notPermitted("\(file) cannot be written (\(message))")
    case SQLITE_TOOBIG: .invalid("a value or a statement is too large for SQLite (\(message))")
    case SQLITE_CONSTRAINT: .invalid(constraint)
    case SQLITE_MISMATCH: .invalid("a value does not match the type of its column (\(message))")
    case SQLITE_ERROR: .invalid(unmetNeed ?? description)
    default: .invalid(description)
    }
  }

  /// The explanation of a statement that needs something which the database or SQLite does not
  /// have, with advice; nil for other errors.
  ///
  /// SQLite has one code for all of them, so only its messages distinguish them.
  private var unmetNeed: String? {
    for (words, kind) in Self.partsOfPrograms where message.hasPrefix(words) {
      return """
        \(file) uses the \(kind) \(message.dropFirst(words.count)), which is part of the program \
        that created the file: use that program instead
        """
    }
    for (words, kind) in [("no such table: ", "table"), ("no such column: ", "column")]
    where message.hasPrefix(words) {
      let name = message.dropFirst(words.count)
      return """
        a view, trigger or foreign key of \(file) uses the \(kind) \
        \(name.hasPrefix("main.") ? name.dropFirst(5) : name), which does not exist: create it, or \
        drop the object that uses it
        """
    }
    if message.hasPrefix("foreign key mismatch") {
      return
        "\(message), where the referenced columns are neither the primary key nor unique (\(file))"
    }
    for words in Self.limits where message.hasPrefix(words) {
      return "a limit of SQLite is exceeded (\(message)): use fewer columns or conditions"
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

  private var unopened: RecordError.Reason {
    let database = SQLiteFile(file)
    if database.isMissing, SQLiteFile(database.folder).isMissing {
      return .storage(
        "\(file) cannot be created: no such folder: \(database.folder). Create it first")
    }
    if !database.hasWritableFolder {
      return .notPermitted(
        database.isMissing
          ? "\(file) cannot be created: its folder is not writable" : unwritableFolder)
    }
    return .storage("\(file) could not be opened: \(message)")
  }

  private var unwritableFolder: String {
    "\(file) cannot be written: SQLite must create files in its folder, which is not writable"
  }

  /// The violated constraint. SQLite names the columns after a colon.
  private var constraint: String {
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
