import Foundation

/// The benchmarks, which measure operations beside Swift's own means and other engines, and
/// evaluate the goals.
@main struct Main {
  private let options: Options
  private let table = Table()

  // Not asynchronous: the main thread waits for the ways, so that they have all threads of the
  // pool.
  static func main() {
    do {
      let arguments = CommandLine.arguments.dropFirst()
      switch arguments.first {
      case "durable": exit(try DurableBenchmarks(arguments.dropFirst()).run())
      case "postgres-records": exit(try PostgresRecordBenchmarks.run(arguments.dropFirst()))
      case "postgres": exit(try PostgresBenchmarks.run(arguments.dropFirst()))
      case DurableProcess.command: return try DurableProcess.run(arguments.dropFirst())
      #if canImport(PostgresOperations)
        case PostgresProcess.command: return try PostgresProcess.run(arguments.dropFirst())
      #endif
      #if os(Linux)
        case HTTPServerProcess.command: return try HTTPServer.run()
      #endif
      default: break
      }
      let options = try Options(arguments)
      if options.wantsHelp { return try StandardOutput.write(Options.usage) }
      exit(try Main(options: options).run())
    } catch {
      complain("\(error)")
      exit(error is UsageError ? 64 : 1)
    }
  }

  /// - Returns: The exit status.
  private func run() throws -> Int32 {
    let peers = try options.peers.map { folder throws(UsageError) in
      try Peers(folder: folder, server: Self.serverForPeers)
    }
    defer { peers?.end() }
    for problem in peers?.problems ?? [] { Self.complain(problem) }
    if let peers, peers.running.isEmpty, let folder = options.peers {
      Self.complain("no program in '\(folder)' could be started as a peer")
    }
    try checkFilters(with: peers)
    if options.onlyLists {
      try forEachShape(with: peers, list)
      return 0
    }
    let report = try measure(with: peers)
    if options.isJSON { try printJSON(report) }
    return report.problems.isEmpty ? 0 : 1
  }

  /// The address of the server of the `http` shapes, which peers also use; nil if there is none.
  private static var serverForPeers: String? {
    #if os(Linux)
      try? HTTPServerProcess.running().address
    #else
      nil
    #endif
  }

  private func measure(with peers: Peers?) throws -> Report {
    let runner = Runner(
      sampler: Sampler(isExact: options.isExact),
      rounds: options.rounds ?? (options.isQuick ? 3 : 7),
      timeLimit: options.isQuick ? .seconds(1) : nil)
    var report = Report(machine: Machine(asksSwift: !options.isExact), rounds: runner.rounds)
    try show(table.head(report.machine, rounds: runner.rounds))
    report.problems += peers?.problems ?? []
    var missing: Set<String> = []
    try forEachShape(with: peers) { shape in
      if let program = shape.missingProgram, missing.insert(program).inserted {
        Self.complain("\(program) is not installed, and so not measured")
      }
      let figures = runner.measure(shape)
      try show(table.text(of: figures))
      report.shapes.append(figures)
      for problem in figures.problems { Self.complain(problem) }
      report.problems += figures.problems
    }
    try show(table.text(of: report.summary))
    try show(table.text(of: report.comparison))
    return report
  }

  /// Calls a closure with the selected shapes, one at a time, each with its selected ways.
  private func forEachShape(
    in catalogue: Catalogue? = nil, with peers: Peers?, _ body: (Shape) throws -> Void
  ) rethrows {
    for makeShape in (catalogue ?? options.catalogue).shapes {
      var shape = makeShape()
      shape.ways += peers?.ways(for: shape) ?? []
      let chosen = shape.choosing { isChosen($0, of: shape) }
      if !chosen.ways.isEmpty { try body(chosen) }
    }
  }

  private func checkFilters(with peers: Peers?) throws(UsageError) {
    for filter in options.filters {
      if finds(filter, in: options.catalogue, with: peers) { continue }
      if finds(filter, in: Catalogue(), with: peers) {
        throw UsageError(
          "--quick or --count excludes '\(filter.text)'; expected a name that --list shows "
            + "with the same options")
      }
      throw UsageError(
        "no shape or way matches '\(filter.text)'; expected a name that --list shows")
    }
  }

  private func finds(_ filter: Filter, in catalogue: Catalogue, with peers: Peers?) -> Bool {
    var isFound = false
    forEachShape(in: catalogue, with: peers) { shape in
      isFound = isFound || shape.ways.contains { filter.admits($0, of: shape) }
    }
    return isFound
  }

  private func isChosen(_ way: Way, of shape: Shape) -> Bool {
    options.filters.isEmpty || options.filters.contains { $0.admits(way, of: shape) }
  }

  private func list(_ shape: Shape) throws {
    try StandardOutput.write("\(shape.id): \(shape.title)")
    for way in shape.ways { try StandardOutput.write("  \(way.name)") }
  }

  private func show(_ text: String) throws {
    if !options.isJSON { try StandardOutput.write(text) }
  }

  static func complain(_ problem: String) {
    try? FileHandle.standardError.write(contentsOf: Data("Benchmarks: \(problem)\n".utf8))
  }

  private func printJSON(_ report: Report) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try StandardOutput.write(String(decoding: try encoder.encode(report), as: UTF8.self))
  }
}
