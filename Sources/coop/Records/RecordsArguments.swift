import CommandLineOperations
import RecordOperations
import SystemSupport

/// The arguments of `coop records`.
struct RecordsArguments: Sendable {
  enum Action: String, Sendable, CaseIterable {
    case tables, query, export
    case load = "import"

    /// The positional arguments, in order.
    var positions: [String] {
      switch self {
      case .tables: ["FILE"]
      case .query, .export: ["FILE", "TABLE"]
      case .load: ["FILE", "TABLE", "SOURCE"]
      }
    }

    var options: Set<String> {
      let rows = ["--where", "--sort", "--columns", "--limit"]
      let format = ["--format", "--delimiter", "--no-header"]
      let own: [String] =
        switch self {
        case .tables: ["--immutable", "--schema"]
        case .query: rows + ["--immutable", "--schema"]
        case .export:
          rows + format + ["--to", "--crlf", "--guard-formulas", "--immutable", "--schema"]
        case .load:
          format + [
            "--create", "--existing", "--skip", "--rows-per-transaction", "--references",
            "--empty-as-text", "--schema",
          ]
        }
      return Set(own + ["--json", "--trust-schema"])
    }
  }

  let action: Action
  private(set) var options = TraceOptions()
  /// The path of the file, or the address.
  private(set) var file = ""
  /// The schema of a database at an address; nil for the default one.
  private(set) var schema: String?
  private(set) var table = ""
  private(set) var source = ""

  private(set) var isJSON = false
  private(set) var trustsSchema = false
  private(set) var isImmutable = false

  private(set) var conditions: [RowCondition] = []
  private(set) var order: [RecordOrder] = []
  private(set) var columns: [String]?
  private(set) var limit: Int?

  /// Nil for the default name.
  private(set) var output: String?
  private var format: Format?
  /// An option that only CSV has; nil if none was given.
  private var optionOfCSV: String?
  /// Nil for the delimiter that the name of the file implies.
  private var delimiter: CSVDelimiter?
  private var hasHeader = true
  private var endsLinesAsWindows = false
  private var guardsFormulas = false

  private(set) var creates = false
  private(set) var existing = ExistingRowPolicy.refused
  private(set) var skips = 0
  private(set) var rowsPerTransaction: Int?
  private(set) var references: [String: String] = [:]
  private var emptyIsText = false

  private static let optionsOfCSV: Set<String> = [
    "--delimiter", "--no-header", "--crlf", "--guard-formulas", "--empty-as-text",
  ]

  private enum Format: String, CaseIterable {
    case csv, json, jsonl

    init?(ofFile name: String) {
      guard let dot = name.lastIndex(of: ".") else { return nil }
      let ending = name[name.index(after: dot)...].lowercased()
      self.init(rawValue: ["ndjson": "jsonl", "tsv": "csv"][ending] ?? ending)
    }
  }

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    var rest = arguments
    let actions = "import, query, export, tables or mirror"
    guard let word = rest.popFirst() else {
      throw UsageError("records: no action; expected \(actions)")
    }
    guard let action = word.text.flatMap(Action.init) else {
      throw UsageError("records: unknown action \(word); expected \(actions)")
    }
    self.action = action
    var positions: [String] = []
    var takesOptions = true
    while let argument = rest.popFirst() {
      if takesOptions, try options.take(argument, from: &rest, for: name) { continue }
      guard let text = argument.text else {
        throw UsageError("\(name): the argument \(argument) is not UTF-8; expected text")
      }
      if text.isEmpty {
        let expected = action.positions.joined(separator: " ")
        throw UsageError("\(name): an empty argument; expected \(expected) and options")
      }
      if takesOptions, text == "--" {
        takesOptions = false
      } else if takesOptions, text.hasPrefix("-"), text != "-" {
        try take(option: text, from: &rest)
      } else if positions.count == action.positions.count {
        throw UsageError(
          "\(name): unexpected argument \(argument); expected \(action.positions.joined(separator: " ")) and options"
        )
      } else {
        positions.append(text)
      }
    }
    guard positions.count == action.positions.count else {
      let missing = action.positions[positions.count]
      throw UsageError(
        "\(name): no \(missing); expected \(action.positions.joined(separator: " "))")
    }
    file = positions[0]
    if positions.count > 1 { table = positions[1] }
    if positions.count > 2 { source = positions[2] }
    try checkPlace()
    try findFormat()
  }

  /// Whether the database is at an address, and not a file.
  var isServed: Bool { DatabaseAddress(file) != nil }

  private func checkPlace() throws(UsageError) {
    guard isServed else {
      if schema == nil { return }
      throw UsageError(
        "\(name): --schema with a file, which has no schemas; expected the address of a database")
    }
    for (isGiven, option) in [(isImmutable, "--immutable"), (trustsSchema, "--trust-schema")]
    where isGiven {
      throw UsageError("\(name): \(option) with an address; expected the path of a SQLite file")
    }
  }

  private mutating func findFormat() throws(UsageError) {
    let named = action == .load ? source : output ?? ""
    format = format ?? Format(ofFile: named)
    // A name without an ending, such as a pipe, implies CSV. A name with an unknown ending does
    // not.
    let isUnclear =
      action == .load || named.split(separator: "/").last?.dropFirst().contains(".") == true
    if format == nil, isUnclear {
      throw UsageError(
        "\(name): the name \(named) does not imply a format; expected --format csv, json or jsonl"
      )
    }
    delimiter = delimiter ?? (named.lowercased().hasSuffix(".tsv") ? .tab : nil)
    if let format, format != .csv, let option = optionOfCSV {
      throw UsageError("\(name): \(option) is only for CSV, and the format is \(format.rawValue)")
    }
  }

  /// Whether rows are written to standard output while they are read.
  var printsRows: Bool { action == .query || output == "-" }

  private var name: String { "records \(action.rawValue)" }

  private mutating func take(
    option: String, from rest: inout ArraySlice<RawPath>
  ) throws(UsageError) {
    guard action.options.contains(option) else {
      let known = action.options.sorted().joined(separator: ", ")
      throw UsageError(
        "\(name): unknown option \(option); expected \(known), --trace or --timeline")
    }
    func value(_ expected: String) throws(UsageError) -> String {
      guard let value = rest.popFirst()?.text, !value.isEmpty else {
        throw UsageError("\(name): \(option) without a value; expected \(expected)")
      }
      return value
    }
    func number(from least: Int) throws(UsageError) -> Int {
      let text = try value("a number >= \(least)")
      guard let number = Int(text), number >= least else {
        throw UsageError("\(name): invalid \(option) \(text); expected a number >= \(least)")
      }
      return number
    }
    func oneOf<Value>(_ values: KeyValuePairs<String, Value>) throws(UsageError) -> Value {
      let expected = values.map(\.key).joined(separator: ", ")
      let text = try value("one of \(expected)")
      guard let found = values.first(where: { $0.key == text }) else {
        throw UsageError("\(name): invalid \(option) \(text); expected one of \(expected)")
      }
      return found.value
    }
    if Self.optionsOfCSV.contains(option) { optionOfCSV = option }
    switch option {
    case "--json": isJSON = true
    case "--trust-schema": trustsSchema = true
    case "--immutable": isImmutable = true
    case "--schema": schema = try value("the name of a schema")
    case "--where":
      let text = try value("a condition, such as pages>500")
      guard let condition = RowCondition(text) else {
        throw UsageError(
          "\(name): invalid condition \(text); expected COLUMN=VALUE, or one of != < <= > >= ^= *= instead of ="
        )
      }
      conditions.append(condition)
    case "--sort":
      let text = try value("a column, or -COLUMN")
      if text == "-" { throw UsageError("\(name): --sort -; expected a column, or -COLUMN") }
      order.append(text.hasPrefix("-") ? .descending(String(text.dropFirst())) : .ascending(text))
    case "--columns":
      columns = try value("columns, separated by commas")
        .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    case "--limit": limit = try number(from: 0)
    case "--to":
      let path = try value("a file, or -")
      output = path == "/dev/stdout" ? "-" : path
    case "--format": format = try oneOf(["csv": .csv, "json": .json, "jsonl": .jsonl])
    case "--delimiter":
      delimiter = try oneOf([",": .comma, ";": .semicolon, "tab": .tab])
    case "--no-header": hasHeader = false
    case "--crlf": endsLinesAsWindows = true
    case "--guard-formulas": guardsFormulas = true
    case "--create": creates = true
    case "--existing":
      existing = try oneOf(["refuse": .refused, "update": .updated, "keep": .kept])
    case "--skip": skips = try number(from: 0)
    case "--rows-per-transaction": rowsPerTransaction = try number(from: 1)
    case "--references":
      let text = try value("COLUMN=TABLE")
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw UsageError("\(name): invalid --references \(text); expected COLUMN=TABLE")
      }
      references[parts[0]] = parts[1]
    default: emptyIsText = true
    }
  }

  // MARK: Formats

  /// The format of exported rows.
  var formatter: any RecordFormatter {
    switch format ?? .csv {
    case .csv:
      CSVFormatter(
        delimiter: delimiter ?? .comma,
        lineEnding: endsLinesAsWindows ? .carriageReturnLineFeed : .lineFeed,
        hasHeader: hasHeader, guardsFormulas: guardsFormulas)
    case .json: JSONFormatter()
    case .jsonl: JSONLinesFormatter()
    }
  }

  /// The format of imported rows.
  var importFormat: ImportFormat {
    switch format ?? .csv {
    case .csv:
      .csv(
        delimiter: delimiter ?? .comma, hasHeader: hasHeader,
        emptyCells: emptyIsText ? .text : .null)
    case .json: .json
    case .jsonl: .jsonLines
    }
  }
}
