import CompositeOperations
import CompositeOperationsFoundation
import RecordOperations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `DevApp records import|query|export|tables FILE…`
struct RecordsCommand {
  static let usage = """
    usage: DevApp records tables FILE [OPTION…]
           DevApp records query FILE TABLE [OPTION…]
           DevApp records export FILE TABLE [OPTION…]
           DevApp records import FILE TABLE SOURCE [OPTION…]

    Looks into a database of SQLite, and puts rows in and out as CSV and JSON. To look, query and export changes nothing.

    tables    lists the tables and views of FILE, with their columns and how many rows they have; why one cannot be read
    query     prints rows of TABLE
    export    writes rows of TABLE to a file, from one snapshot; the old file is there until the new one is whole
    import    puts the rows of SOURCE into TABLE, all of them or none; `-` is standard input

      --where CONDITION which rows, such as 'pages > 500', title^=The (begins), title*=sea (has), lent=null; = != < <= > >=.
                        A text in quotes is no number: "code='007'". All have to hold where there are several
      --sort COLUMN     which row is first; -COLUMN the other way round. It may be there several times
      --columns A,B     which columns; author.name goes across a reference. All if it is not there
      --limit N         how many rows at most; all if it is not there, but 1,000 of a query on a terminal

    export
      --to OUT          the file; TABLE.csv or the like if it is not there. `-` is standard output, with rows alone on it

    import
      --create          makes FILE, TABLE and its columns where they are missing
      --existing WHAT   what becomes of a row whose key is there: refuse (it is a bad one), update or keep
      --skip N          how many bad rows may be left out; 0 if it is not there
      --rows-per-transaction N
                        puts in so many rows at once, which stay even if the import fails later
      --references C=T  to which table the references of a column lead whose cells are names alone
      --empty-as-text   an empty cell is an empty text, and not null

    tables, query and export
      --immutable       opens FILE as immutable: nothing else may write it meanwhile, and nothing is made beside it. It is
                        for files in WAL mode whose folder cannot be written; on a read-only disk it is not needed

    export and import
      --format F        csv, json or jsonl; as the name of the file says if it is not there
      --delimiter D     , ; or tab, for CSV; tab for a file of the name .tsv
      --no-header       the first line of CSV does not name the columns
      --crlf            ends the lines of CSV as Windows does (export)
      --guard-formulas  has no spreadsheet run what is in a text of CSV (export)

      --json            what is said in the end as JSON on standard output, or on standard error if rows go there; the
                        rows of a query as an object a line
      --trust-schema    lets views, checks and triggers of FILE use all functions: if it is from somebody you trust
    \(FlowOptions.usage)
      --                what follows is no option, whatever it looks like

    Exit status: 0 done, 1 error, 64 wrong arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private let arguments: RecordsArguments
  private let database: SQLiteRecordDatabase

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    let arguments = try RecordsArguments(arguments)
    self.arguments = arguments
    let access: SQLiteOptions.Access =
      switch arguments.action {
      case .load: arguments.creates ? .create : .existing
      case .tables, .query, .export: arguments.isImmutable ? .immutable : .readOnly
      }
    database = SQLiteRecordDatabase(
      arguments.file, SQLiteOptions(access: access, trustsSchema: arguments.trustsSchema))
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

  /// Runs a flow and shows what came of it.
  private func perform<Value: Sendable>(
    _ flow: some ComposableOperation<Value>, _ show: (Value) throws -> Void
  ) async throws -> Int32 {
    let standardError = StandardError()
    // Rows that come meanwhile, or who shows them page by page, share the terminal with it.
    let hasTerminal =
      standardError.isTerminal && (!arguments.printsRows || StandardOutput().isFile)
    let observation = try FlowObservation(
      arguments.options, progressOn: hasTerminal ? standardError : nil)
    let performed = try await PerformedFlow(of: flow, seenBy: observation, waitsForEnd: true)
    // So that nothing is left beside the file.
    await database.close()
    try observation.end()
    switch performed.outcome {
    case .result(let value):
      do { try show(value) } catch {
        standardError.writeLine("DevApp records: the output cannot be written: \(error)")
        return ExitCode.failure
      }
      return ExitCode.success
    case .error(let error as RecordFileError) where error.code == EPIPE && arguments.printsRows:
      // Whoever reads the rows has seen enough, as `head` has, and other programs end by the signal for that.
      return ExitCode.signalled(by: SIGPIPE)
    case .error(let error):
      // The error itself tells of the first one.
      if let error = error as? RecordImportError, error.problems.count > 1 {
        list(error.problems, standardError)
      }
      standardError.writeLine("DevApp records: \(error)")
      return ExitCode.failure
    case .cancelled:
      // What was put in before stays.
      let left = (performed.late?.error as? RecordImportError).map { ": \($0)" } ?? ""
      standardError.writeLine("DevApp records: interrupted\(left)")
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
    // On a terminal nobody reads more. One more is asked for, to know whether there are more.
    let shown = width == nil ? nil : limit ?? 1_000
    let table = TableFormatter(width: width, limit: shown)
    return try await perform(export(as: table, to: "-", limit ?? shown.map { $0 + 1 })) { file in
      if let shown, file.recordCount > shown {
        StandardError().writeLine("the first \(shown.grouped) rows; --limit N shows more")
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
        // Standard output has the rows.
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
    if !arguments.creates, unsafe access(arguments.file, F_OK) != 0, errno == ENOENT {
      let error = StandardError()
      error.writeLine("DevApp records: there is no file \(arguments.file); --create makes it")
      return ExitCode.failure
    }
    let start = ContinuousClock.now
    let flow =
      arguments.source == "-"
      ? ImportRecords.reading(from: 0, called: "standard input", rows)
      : rows(from: arguments.source)
    return try await perform(flow) { file in
      let summary = RecordsSummary(
        records: file.recordCount, bytes: nil, seconds: start.secondsUntilNow, file: file.path,
        problems: file.problems)
      if arguments.isJSON { return try StandardOutput().write(try summary.json()) }
      let standardError = StandardError()
      list(file.problems, standardError)
      let left =
        file.problems.isEmpty ? "" : ", \(file.problems.count.counted("bad row")) left out"
      standardError.writeLine(
        "\(file.recordCount.counted("row")) in \(summary.time) into \(arguments.table)\(left)")
    }
  }

  private func rows(from path: String) -> ImportRecords {
    ImportRecords(
      arguments.table, into: database, from: path, as: arguments.importFormat,
      existing: arguments.existing, badRows: .skipped(atMost: arguments.skips),
      references: arguments.references, addsColumns: arguments.creates,
      rowsPerTransaction: arguments.rowsPerTransaction)
  }

  private func list(_ problems: [RowProblem], _ standardError: StandardError) {
    let shown = 20
    for problem in problems.prefix(shown) { standardError.writeLine("\(problem)") }
    if problems.count > shown {
      standardError.writeLine("… and \((problems.count - shown).counted("other bad row"))")
    }
  }
}

extension ContinuousClock.Instant {
  fileprivate var secondsUntilNow: Double { (ContinuousClock.now - self) / .seconds(1) }
}
