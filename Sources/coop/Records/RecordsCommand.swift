import CommandLineOperations
import CompositeOperations
import CompositeOperationsFoundation
import RecordOperations
import SystemSupport

/// `coop records import|query|export|tables DATABASE…`
struct RecordsCommand {
  static let usage = """
    usage: coop records tables FILE [OPTION…]
           coop records query FILE TABLE [OPTION…]
           coop records export FILE TABLE [OPTION…]
           coop records import FILE TABLE SOURCE [OPTION…]
           coop records mirror LOCAL REMOTE [TABLE…] [OPTION…]

    Queries a database, and imports and exports rows as CSV and JSON. tables, query and export change nothing.

    FILE is a SQLite file, or postgresql://USER@HOST/DATABASE, as REMOTE may be.

    tables    lists the tables and views of FILE, with their columns and row counts, and why one cannot be read
    query     prints rows of TABLE
    export    writes rows of TABLE to a file, from one snapshot; the old file is replaced when the new one is complete
    import    inserts the rows of SOURCE into TABLE, all of them or none; `-` is standard input
    mirror    keeps the rows of two databases in step; `coop records mirror --help` shows its options

      --where CONDITION selects rows: 'pages > 500', title^=The (begins with), title*=sea (contains), lent=null;
                        = != < <= > >=. A quoted value is text, not a number: "code='007'". If the option is repeated,
                        all conditions must hold
      --sort COLUMN     sorts by a column, or descending by -COLUMN; may be repeated
      --columns A,B     selects columns; author.name follows a reference, in a SQLite file (default: all)
      --limit N         selects at most N rows (default: all, or 1,000 for a query on a terminal)

    export
      --to OUT          the output file (default: TABLE.csv, .json or .jsonl). `-` is standard output, which
                        then contains only rows

    import
      --create          creates FILE or the schema, TABLE and its columns if they are missing; a table of another
                        program gets no columns
      --existing WHAT   what to do with a row whose key exists: refuse (a bad row), update or keep
      --skip N          skips up to N bad rows (default: 0); each line of a bad row of CSV counts
      --rows-per-transaction N
                        commits every N rows; they remain even if the import fails later
      --references C=T  the table T that column C refers to, if its cells contain only names
      --empty-as-text   imports an empty cell as an empty text instead of null

    tables, query, export and import
      --schema NAME     the schema of a PostgreSQL database (default: public)

    tables, query and export
      --immutable       opens FILE as immutable: no other process may write it, and no file is created beside it. Use it
                        for files in WAL mode whose folder is not writable; a read-only disk does not need it

    export and import
      --format F        csv, json or jsonl (default: the format that the name of the file implies)
      --delimiter D     , ; or tab, for CSV (default: tab for a file named .tsv)
      --no-header       CSV without a line of column names
      --crlf            ends CSV lines as Windows does (export)
      --guard-formulas  keeps spreadsheets from running CSV text as formulas (export)

      --json            prints the result as JSON on standard output, or on standard error if rows go to standard output;
                        prints each row of a query as a JSON object on a line
      --trust-schema    lets views, checks and triggers of FILE use all functions; only for files that you trust
    \(TraceOptions.usage)
      --                ends the options

    Exit status: 0 success, 1 error, 64 invalid arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private let arguments: RecordsArguments
  private let database: RecordsPlace

  init(_ arguments: ArraySlice<RawPath>) throws {
    let arguments = try RecordsArguments(arguments)
    self.arguments = arguments
    database = try Self.database(arguments)
  }

  private static func database(_ arguments: RecordsArguments) throws -> RecordsPlace {
    if let address = DatabaseAddress(arguments.file) {
      return try RecordsPlace(at: address, in: arguments.schema)
    }
    let access: SQLiteOptions.Access =
      switch arguments.action {
      case .load: arguments.creates ? .create : .existing
      case .tables, .query, .export: arguments.isImmutable ? .immutable : .readOnly
      }
    return .file(
      SQLiteRecordDatabase(
        arguments.file, SQLiteOptions(access: access, trustsSchema: arguments.trustsSchema)))
  }

  /// - Returns: The exit status.
  func run() async throws -> Int32 {
    switch arguments.action {
    case .tables: try await perform(ListTables(in: database)) { try show($0) }
    case .query: try await query()
    case .export: try await export()
    case .load: try await load()
    }
  }

  /// Runs a flow and shows its outcome.
  private func perform<Value: Sendable>(
    _ flow: some ComposableOperation<Value>, _ show: (Value) throws -> Void
  ) async throws -> Int32 {
    let standardError = StandardError()
    // The display would collide with rows on the same terminal, or with a pager.
    let hasTerminal =
      standardError.isTerminal && (!arguments.printsRows || StandardOutput().isFile)
    let observation = try ProgramObservation(
      arguments.options, progressOn: hasTerminal ? standardError : nil)
    let performed = try await ProgramRun(of: flow, observedBy: observation, awaitsEnd: true)
    // Removes the files that SQLite keeps beside a database.
    await database.close()
    try observation.end()
    switch performed.outcome {
    case .result(let value):
      do { try show(value) } catch {
        standardError.writeFailure("coop records: the output cannot be written: \(error)")
        return ExitStatus.failure
      }
      return ExitStatus.success
    case .error(let error as RecordFileError)
    where error.code == SystemError.brokenPipe.code && arguments.printsRows:
      // The reader of the rows has stopped reading, as `head` does. Other programs end by SIGPIPE
      // then.
      return ExitStatus.signalled(by: SystemSignal.brokenPipe)
    case .error(let error):
      // The error describes only the first problem.
      if let error = error as? RecordImportError, error.problems.count > 1 {
        list(error.problems, standardError)
      }
      standardError.writeFailure("coop records: \(error)")
      return ExitStatus.failure
    case .cancelled:
      // Rows that were committed before remain.
      let left = (performed.lateOutcome?.error as? RecordImportError).map { ": \($0)" } ?? ""
      standardError.writeLine("coop records: interrupted\(left)")
      return performed.interruptedStatus
    }
  }

  // MARK: Actions

  private func show(_ tables: [TableDescription]) throws {
    let output = StandardOutput()
    if arguments.isJSON { return try output.write(try tables.json()) }
    let list = TableList(tables: tables)
    try output.write(Array(list.text(in: output.width).utf8))
    for line in list.problemLines { StandardError().writeLine(line) }
  }

  private func query() async throws -> Int32 {
    let limit = arguments.limit
    if arguments.isJSON {
      return try await perform(export(as: .jsonLines, to: "-", limit)) { _ in }
    }
    let width = StandardOutput().width
    // A terminal shows at most 1,000 rows. One more is requested, to know whether there are more.
    let shown = width == nil ? nil : limit ?? 1_000
    let table = TableFormatter(width: width, limit: shown)
    return try await perform(export(as: table, to: "-", limit ?? shown.map { $0 + 1 })) { file in
      if let shown, file.recordCount > shown {
        StandardError().writeLine("first \(shown.grouped) rows; use --limit N to show more")
      }
    }
  }

  private func export(
    as formatter: any RecordFormatter, to output: String?, _ limit: Int?
  ) -> ExportRows {
    ExportRows(
      arguments: arguments, database: database, formatter: formatter, output: output, limit: limit)
  }

  private func export() async throws -> Int32 {
    let start = ContinuousClock.now
    let flow = export(as: arguments.formatter, to: arguments.output, arguments.limit)
    return try await perform(flow) { file in
      let summary = RecordsSummary(
        records: file.recordCount, bytes: file.byteCount, seconds: start.secondsUntilNow,
        file: file.path, problems: nil)
      if arguments.isJSON {
        let text = try summary.json()
        // Standard output contains the rows.
        if arguments.printsRows {
          return StandardError().write(String(decoding: text, as: UTF8.self))
        }
        return try StandardOutput().write(text)
      }
      let size = "\(file.recordCount.counted("row")) (\(file.byteCount.asBytes))"
      StandardError().writeLine("\(size) in \(summary.time) to \(file.path)")
    }
  }

  private func load() async throws -> Int32 {
    if !arguments.isServed, !arguments.creates, FileSystem.isMissing(arguments.file) {
      let error = StandardError()
      error.writeFailure("coop records: no such file: \(arguments.file); use --create to create it")
      return ExitStatus.failure
    }
    return switch database {
    case .file(let file): try await load(arguments.load(into: file))
    case .server(let server): try await load(arguments.load(into: server))
    }
  }

  private func load(_ flow: some ComposableOperation<ImportedFile>) async throws -> Int32 {
    let start = ContinuousClock.now
    return try await perform(flow) { file in
      let summary = RecordsSummary(
        records: file.recordCount, bytes: nil, seconds: start.secondsUntilNow, file: file.path,
        problems: file.problems)
      if arguments.isJSON { return try StandardOutput().write(try summary.json()) }
      let standardError = StandardError()
      list(file.problems, standardError)
      let left =
        file.problems.isEmpty ? "" : ", \(file.problems.badRowCount.counted("bad row")) skipped"
      standardError.writeLine(
        "\(file.recordCount.counted("row")) in \(summary.time) into \(arguments.table)\(left)")
    }
  }

  private func list(_ problems: [RowProblem], _ standardError: StandardError) {
    let shown = 20
    for problem in problems.prefix(shown) { standardError.writeLine("\(problem)") }
    if problems.count > shown {
      standardError.writeLine(
        "… and \(problems.dropFirst(shown).badRowCount.counted("other bad row"))")
    }
  }
}

extension ContinuousClock.Instant {
  fileprivate var secondsUntilNow: Double { (ContinuousClock.now - self) / .seconds(1) }
}
