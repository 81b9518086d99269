import Foundation

/// Measures operations beside what Swift has and beside other engines, and judges the goals.
@main struct Main {
  private let options: Options
  private let table = Table()

  // Not asynchronous: ways are waited for on the main thread, so that the pool's threads are theirs.
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp { return print(Options.usage) }
      exit(try Main(options: options).run())
    } catch {
      FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
      exit(error is UsageError ? 64 : 1)
    }
  }

  /// - Returns: What to exit with.
  private func run() throws -> Int32 {
    let peers = try options.peers.map { folder throws(UsageError) in try Peers(folder: folder) }
    defer { peers?.end() }
    try checkFilters(with: peers)
    if options.onlyLists {
      forEachShape(with: peers, list)
      return 0
    }
    let report = measure(with: peers)
    if options.isJSON { try printJSON(report) }
    return report.problems.isEmpty ? 0 : 1
  }

  private func measure(with peers: Peers?) -> Report {
    let runner = Runner(
      sampler: Sampler(isExact: options.isExact),
      rounds: options.rounds ?? (options.isQuick ? 3 : 7),
      patience: options.isQuick ? .seconds(2) : nil)
    var report = Report(machine: Machine(asksSwift: !options.isExact), rounds: runner.rounds)
    show(table.head(report.machine, rounds: runner.rounds))
    note(peers?.problems ?? [], in: &report)
    forEachShape(with: peers) { shape in
      let figures = runner.measure(shape)
      show(table.text(of: figures))
      report.shapes.append(figures)
      note(figures.problems, in: &report)
    }
    show(table.text(of: report.summary))
    return report
  }

  /// The chosen shapes, one at a time, each with its chosen ways.
  private func forEachShape(with peers: Peers?, _ body: (Shape) -> Void) {
    for makeShape in options.catalogue.shapes {
      var shape = makeShape()
      shape.ways += peers?.ways(for: shape) ?? []
      let chosen = shape.choosing { isChosen($0, of: shape) }
      if !chosen.ways.isEmpty { body(chosen) }
    }
  }

  private func checkFilters(with peers: Peers?) throws(UsageError) {
    for filter in options.filters {
      var isOfUse = false
      forEachShape(with: peers) { shape in
        isOfUse = isOfUse || shape.ways.contains { filter.admits($0, of: shape) }
      }
      if isOfUse { continue }
      throw UsageError(
        "nothing is called '\(filter.text)'; expected a name of those that --list shows")
    }
  }

  private func isChosen(_ way: Way, of shape: Shape) -> Bool {
    options.filters.isEmpty || options.filters.contains { $0.admits(way, of: shape) }
  }

  private func list(_ shape: Shape) {
    print("\(shape.id): \(shape.title)")
    for way in shape.ways { print("  \(way.name)") }
  }

  private func show(_ text: String) {
    if options.isJSON { return }
    print(text)
    // So that it is seen at once, and kept if somebody ends the run.
    fflush(nil)
  }

  private func note(_ problems: [String], in report: inout Report) {
    for problem in problems {
      FileHandle.standardError.write(Data("Benchmarks: \(problem)\n".utf8))
    }
    report.problems += problems
  }

  private func printJSON(_ report: Report) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
  }
}
