import Foundation

/// The benchmarks of durable flows: `Benchmarks durable`.
struct DurableBenchmarks {
  private let options: DurableOptions
  private let table = DurableTable()

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    options = try DurableOptions(arguments)
  }

  /// - Returns: The exit status.
  func run() throws -> Int32 {
    if options.wantsHelp {
      try StandardOutput.write(DurableOptions.usage)
      return 0
    }
    // Writing to a process that has ended is an error, and does not end this one.
    signal(SIGPIPE, SIG_IGN)
    Interruptions.endChildren()
    let folder = try DurableFolder()
    defer { folder.remove() }
    let peers = try options.peers.map { path throws(UsageError) in
      try Peers(folder: path, files: folder.path)
    }
    defer { peers?.end() }
    var problems = peers?.problems ?? []
    for problem in problems { Main.complain(problem) }
    if peers?.running.isEmpty ?? true { Main.complain("no other engine is measured") }
    problems += try measure(in: folder, peers)
    return problems.isEmpty ? 0 : 1
  }

  /// - Returns: The problems.
  private func measure(in folder: DurableFolder, _ peers: Peers?) throws -> [String] {
    let runner = Runner(sampler: Sampler(), rounds: options.rounds ?? (options.isQuick ? 3 : 7))
    let catalogue = DurableCatalogue(folder: folder, peers: peers, isQuick: options.isQuick)
    try StandardOutput.write(
      """
      \(Machine(asksSwift: true).description)
      \(runner.rounds) round\(runner.rounds == 1 ? "" : "s"), databases on \(folder.fileSystem), load \(load)

      \(table.head)
      """)
    var problems: [String] = []
    var results: [DurableGoalResult] = []
    for shape in catalogue.shapes(named: options.shapes) {
      let report = runner.measure(shape)
      for problem in report.problems { Main.complain(problem) }
      problems += report.problems
      if !report.ways.isEmpty { try StandardOutput.write(table.rows(of: report)) }
      results += DurableGoal.all.filter { $0.shape == report.id }
        .compactMap { $0.result(in: report) }
    }
    try StandardOutput.write(
      """

      Goals: \(results.count(where: \.isMet)) of \(results.count) met. Load at the end: \(load).
      """)
    return problems
  }

  /// The average number of processes that ran or waited for a core in the last minute.
  private var load: String {
    var average = 0.0
    return getloadavg(&average, 1) == 1 ? average.short : "unknown"
  }
}
