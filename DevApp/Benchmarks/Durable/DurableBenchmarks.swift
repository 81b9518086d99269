import Foundation

/// The benchmarks of durable flows: `Benchmarks durable`.
struct DurableBenchmarks {
  private let options: DurableOptions

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    options = try DurableOptions(arguments, of: .durable)
  }

  /// - Returns: The exit status.
  func run() throws -> Int32 {
    if options.wantsHelp {
      try StandardOutput.write(DurableOptions.Command.durable.usage)
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
    let catalogue = DurableCatalogue(folder: folder, peers: peers, isQuick: options.isQuick)
    let table = DurableTable(
      goals: DurableGoal.all, bases: [DurableCatalogue.bareInsert, "no modifier"])
    problems += try table.show(
      catalogue.shapes(named: options.shapes),
      rounds: options.rounds(of: .durable), databasesOn: folder.fileSystem)
    return problems.isEmpty ? 0 : 1
  }
}
