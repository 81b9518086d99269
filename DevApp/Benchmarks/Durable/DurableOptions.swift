/// The command-line options of the benchmarks of durable flows.
struct DurableOptions {
  /// A command of this program.
  struct Command {
    let name: String
    let summary: String
    /// The default number of rounds.
    let rounds: Int
    let shapes: [String]
    var takesPeers = false

    static let durable = Command(
      name: "durable",
      summary: """
        Measures durable flows beside a bare SQLite insert of the same rows, and prints a table.
        """,
      rounds: 7, shapes: DurableCatalogue.ids, takesPeers: true)

    var usage: String {
      let peers = """
        --peers FOLDER   also measures the programs in FOLDER, which run flows with other engines

        """
      return """
        usage: Benchmarks \(name) [OPTION…]

        \(summary)

          --rounds N       measures every way N times (default: \(rounds), or 3 with --quick)
          --only SHAPE     measures only this shape; can be repeated
          --quick          measures smaller sizes, in about a minute; the goals are for the others
          \(takesPeers ? peers + "  " : "")--help           prints this help

        The shapes are: \(shapes.joined(separator: ", ")).
        """
    }
  }

  var rounds: Int?
  var shapes: [String] = []
  var isQuick = false
  var peers: String?
  var wantsHelp = false

  init(_ arguments: some Sequence<String>, of command: Command) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--rounds": rounds = try Self.rounds(in: &rest)
      case "--only": shapes.append(try Self.shape(in: &rest, of: command))
      case "--quick": isQuick = true
      case "--peers" where command.takesPeers:
        peers = try Self.value(after: argument, "FOLDER", in: &rest)
      case "--help", "-h": wantsHelp = true
      default:
        let options = "--rounds, --only, --quick\(command.takesPeers ? ", --peers" : "")"
        throw UsageError("unknown argument '\(argument)'; expected \(options) or --help")
      }
    }
  }

  /// The number of rounds of a command.
  func rounds(of command: Command) -> Int { rounds ?? (isQuick ? 3 : command.rounds) }

  private static func rounds(in rest: inout ArraySlice<String>) throws(UsageError) -> Int {
    let text = try value(after: "--rounds", "N", in: &rest)
    guard let number = Int(text), (1...1_000).contains(number) else {
      throw UsageError("invalid --rounds '\(text)'; expected a whole number from 1 to 1000")
    }
    return number
  }

  private static func shape(
    in rest: inout ArraySlice<String>, of command: Command
  ) throws(UsageError) -> String {
    let text = try value(after: "--only", "SHAPE", in: &rest)
    guard command.shapes.contains(text) else {
      throw UsageError(
        "no shape is named '\(text)'; expected \(command.shapes.joined(separator: ", "))")
    }
    return text
  }

  private static func value(
    after option: String, _ name: String, in rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst(), !value.isEmpty else {
      throw UsageError("\(option) without a value; expected \(option) \(name)")
    }
    return value
  }
}
