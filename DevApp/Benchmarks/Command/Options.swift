/// The command-line options.
struct Options {
  static let usage = """
    usage: Benchmarks [FILTER…] [OPTION…]

    Runs the shapes and ways whose names contain a FILTER, or all of them. SHAPE/ selects exactly
    one shape, and SHAPE/WAY exactly one way.

      --rounds N       measures every way N times (default: 7, or 3 with --quick)
      --count N        runs N operations in shapes of variable size (default: 100000)
      --quick          measures only the main sizes, in less than two minutes
      --json           prints a JSON object instead of tables
      --exact          runs only the selected ways, for counting instructions
      --peers FOLDER   also measures the programs in FOLDER, which do the same work with other engines
      --list           prints the shapes and ways
      --help           prints this help
    """

  var filters: [Filter] = []
  var rounds: Int?
  var count: Int?
  var isQuick = false
  var isJSON = false
  var isExact = false
  var peers: String?
  var onlyLists = false
  var wantsHelp = false

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--rounds": rounds = try Self.number(after: argument, from: 1, to: 1_000, in: &rest)
      case "--count":
        // The smallest count with a group of eight.
        count = try Self.number(after: argument, from: 8, to: 10_000_000, in: &rest)
      case "--quick": isQuick = true
      case "--json": isJSON = true
      case "--exact": isExact = true
      case "--peers": peers = try Self.folder(after: argument, in: &rest)
      case "--list": onlyLists = true
      case "--help", "-h": wantsHelp = true
      case _ where argument.isEmpty || argument.hasPrefix("-"):
        throw UsageError(
          "unknown option '\(argument)'; expected --rounds, --count, --quick, --json, --exact, "
            + "--peers, --list, --help or a filter")
      default: filters.append(Filter(argument))
      }
    }
    if isExact, peers != nil {
      throw UsageError("--exact counts only the instructions of this process; expected no --peers")
    }
  }

  var catalogue: Catalogue {
    var catalogue = Catalogue()
    catalogue.hasOtherSizes = !isQuick && count == nil
    catalogue.hasShortSequence = count == nil
    if isQuick {
      catalogue.busyCount = 10_000
      catalogue.processCount = 400
      catalogue.requestCount = 2_000
      catalogue.cancellationCount = 50
      catalogue.bodySizes = (memory: 64, file: 250)
    }
    if let count {
      catalogue.count = count
      catalogue.busyCount = count
    }
    return catalogue
  }

  private static func number(
    after option: String, from least: Int, to most: Int, in rest: inout ArraySlice<String>
  ) throws(UsageError) -> Int {
    let expected = "expected a whole number from \(least) to \(most)"
    guard let text = rest.popFirst() else {
      throw UsageError("\(option) without a number; \(expected)")
    }
    guard let number = Int(text), (least...most).contains(number) else {
      throw UsageError("invalid \(option) '\(text)'; \(expected)")
    }
    return number
  }

  private static func folder(
    after option: String, in rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let folder = rest.popFirst(), !folder.isEmpty else {
      throw UsageError("\(option) without a folder; expected \(option) FOLDER")
    }
    return folder
  }
}
