import CommandLineOperations
import RecordOperations
import SystemSupport

/// The arguments of `coop records mirror`.
struct MirrorArguments {
  static let usage = """
    usage: coop records mirror LOCAL REMOTE [TYPE…] [OPTION…]

    Keeps the rows of two databases in step: fetches what has changed in REMOTE, merges it field by field into LOCAL, and
    sends what has changed in LOCAL. LOCAL is a SQLite file. REMOTE is another one, or postgresql://USER@HOST/DATABASE. Any
    program may edit either database meanwhile. A file that does not exist is created.

    TYPE…               the tables to mirror (default: all tables of both databases)

      --once            runs one round, which waits for up to 30 s for open transactions that delay changes, and
                        ends; otherwise rounds follow each change until Ctrl-C
      --conflicts WHO   the value of a field that both sides have changed: remote, local or newest (default: remote). The
                        lost value is kept in the table _record_mirror_conflicts of LOCAL
      --deletions HOW   whether a deletion on one side loses against an edit on the other one: lose or win (default: lose)
      --other-database HOW  if REMOTE is not the source of the rows of LOCAL: stop, merge them, or replace
                        the rows of LOCAL (default: stop)
      --timeout N       how many seconds a request waits for an answer of a PostgreSQL server (default: 20)
      --interval N      runs a round at least every N seconds (default: 60)
      --name NAME       the name of the mirror, if LOCAL has several (default: empty)
      --schema NAME     the schema of a PostgreSQL database (default: public)
      --trust-schema    lets checks and triggers of both files use all functions; only for files that you trust
      --json            prints the report of the round as JSON (with --once)
    \(TraceOptions.usage)
      --                ends the options

    Both databases get triggers and tables that record their changes. Files get the log mode WAL. FILE-mirror beside LOCAL is
    a lock. Unless --once is given, a PostgreSQL database also gets a trigger that notifies the mirror of each commit.

    Exit status: 0 success, 1 error, rejected rows or a delayed change (with --once), 64 invalid arguments, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
    """

  private(set) var options = TraceOptions()
  private(set) var local = ""
  /// The path of a file, or the address.
  private(set) var remote = ""
  /// The schema of a database at an address; nil for the default one.
  private(set) var schema: String?
  private(set) var types: [String] = []
  private(set) var runsOnce = false
  private(set) var conflicts = ConflictPolicy.remoteWins
  private(set) var deletions = DeletionPolicy.lose
  private(set) var otherDatabase = OtherDatabasePolicy.stop
  /// How long a request waits for an answer of a server; nil for the default.
  private(set) var timeout: Duration?
  private(set) var interval = Duration.seconds(60)
  private(set) var mirrorName = ""
  private(set) var isJSON = false
  private(set) var trustsSchema = false

  private static let name = "records mirror"
  private static let positions = "LOCAL REMOTE [TYPE…]"

  init(_ arguments: ArraySlice<RawPath>) throws(UsageError) {
    let name = Self.name
    var rest = arguments
    var positions: [String] = []
    var takesOptions = true
    while let argument = rest.popFirst() {
      if takesOptions, try options.take(argument, from: &rest, for: name) { continue }
      guard let text = argument.text else {
        throw UsageError("\(name): the argument \(argument) is not UTF-8; expected text")
      }
      if takesOptions, text == "--" {
        takesOptions = false
      } else if takesOptions, text.hasPrefix("-") {
        try take(option: text, from: &rest)
      } else if text.isEmpty {
        throw UsageError("\(name): an empty argument; expected \(Self.positions) and options")
      } else {
        positions.append(text)
      }
    }
    guard positions.count >= 2 else {
      let missing = positions.isEmpty ? "LOCAL" : "REMOTE"
      throw UsageError("\(name): no \(missing); expected \(Self.positions)")
    }
    (local, remote, types) = (positions[0], positions[1], Array(positions[2...]))
    if isJSON, !runsOnce { throw UsageError("\(name): --json is only for --once") }
    try checkPlaces()
  }

  private func checkPlaces() throws(UsageError) {
    let name = Self.name
    // Without the addresses, which may contain passwords.
    if DatabaseAddress(local) != nil {
      let advice =
        DatabaseAddress(remote) == nil
        ? "swap the arguments: coop records mirror FILE ADDRESS"
        : "mirror each address with the same file, one after the other"
      throw UsageError(
        "\(name): LOCAL is an address, but a mirror keeps its state in a SQLite file; \(advice)")
    }
    if DatabaseAddress(remote) != nil { return }
    if schema != nil {
      throw UsageError(
        "\(name): --schema with a file, which has no schemas; expected the address of a database")
    }
    if timeout != nil {
      throw UsageError(
        "\(name): --timeout with a file, which has no server; expected the address of a database")
    }
  }

  private mutating func take(
    option: String, from rest: inout ArraySlice<RawPath>
  ) throws(UsageError) {
    let name = Self.name
    func value(_ expected: String) throws(UsageError) -> String {
      guard let value = rest.popFirst()?.text, !value.isEmpty else {
        throw UsageError("\(name): \(option) without a value; expected \(expected)")
      }
      return value
    }
    func seconds() throws(UsageError) -> Duration {
      let expected = "a number of seconds >= 1"
      let text = try value(expected)
      guard let seconds = Int(text), (1...86_400 * 365).contains(seconds) else {
        throw UsageError("\(name): invalid \(option) \(text); expected \(expected)")
      }
      return .seconds(seconds)
    }
    switch option {
    case "--once": runsOnce = true
    case "--json": isJSON = true
    case "--trust-schema": trustsSchema = true
    case "--schema": schema = try value("the name of a schema")
    case "--name": mirrorName = try value("a name")
    case "--conflicts":
      let expected = "remote, local or newest"
      let text = try value(expected)
      switch text {
      case "remote": conflicts = .remoteWins
      case "local": conflicts = .localWins
      case "newest": conflicts = .newest
      default:
        throw UsageError("\(name): invalid --conflicts \(text); expected \(expected)")
      }
    case "--deletions":
      let text = try value("lose or win")
      guard let policy = DeletionPolicy(rawValue: text) else {
        throw UsageError("\(name): invalid --deletions \(text); expected lose or win")
      }
      deletions = policy
    case "--other-database":
      let expected = "stop, merge or replace"
      let text = try value(expected)
      switch text {
      case "stop": otherDatabase = .stop
      case "merge": otherDatabase = .merge
      case "replace": otherDatabase = .replaceLocal
      default:
        throw UsageError("\(name): invalid --other-database \(text); expected \(expected)")
      }
    case "--interval": interval = try seconds()
    case "--timeout": timeout = try seconds()
    default:
      throw UsageError(
        """
        \(name): unknown option \(option); expected --conflicts, --deletions, --interval, --json, \
        --name, --once, --other-database, --schema, --timeline, --timeout, --trace or --trust-schema
        """)
    }
  }
}
