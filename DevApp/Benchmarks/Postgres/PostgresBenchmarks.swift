#if canImport(PostgresOperations)
  import Foundation

  /// The benchmarks of durable flows on PostgreSQL: `Benchmarks postgres`.
  enum PostgresBenchmarks {
    /// - Returns: The exit status.
    static func run(_ arguments: some Sequence<String>) throws -> Int32 {
      let options = try DurableOptions(arguments, of: .postgres)
      if options.wantsHelp {
        try StandardOutput.write(DurableOptions.Command.postgres.usage)
        return 0
      }
      // Writing to a process that has ended is an error, and does not end this one.
      signal(SIGPIPE, SIG_IGN)
      Interruptions.endChildren()
      let server = try PostgresServer()
      defer { server.stop() }
      let files = try DurableFolder()
      defer { files.remove() }
      let catalogue = PostgresCatalogue(server: server, files: files, isQuick: options.isQuick)
      let table = DurableTable(goals: DurableGoal.postgres, bases: [PostgresCatalogue.pgbench])
      let problems = try table.show(
        catalogue.shapes(named: options.shapes), rounds: options.rounds(of: .postgres),
        databasesOn: "\(server.fileSystem), \(server.version)")
      return problems.isEmpty ? 0 : 1
    }
  }

  extension DurableOptions.Command {
    static let postgres = DurableOptions.Command(
      name: "postgres",
      summary: """
        Measures durable flows on a private PostgreSQL server beside pgbench with the same calls, and
        prints a table.
        """,
      rounds: 5, shapes: PostgresCatalogue.ids)
  }

  extension DurableGoal {
    /// The goals on PostgreSQL, for the default sizes.
    static let postgres: [DurableGoal] =
      PostgresCatalogue.widths.map { width in
        DurableGoal(
          "steps-\(width)", PostgresCatalogue.ours, .atLeastTimes(0.9, PostgresCatalogue.pgbench))
      } + [
        DurableGoal(
          "children", PostgresCatalogue.ours, .atMostTimes(1.3, PostgresCatalogue.pgbench)),
        DurableGoal("takeover", PostgresCatalogue.ours, .atMost(1_000)),
        DurableGoal("idle", PostgresCatalogue.ours, .atMost(10)),
      ]
  }
#else
  /// The benchmarks of durable flows on PostgreSQL, without the module that they measure.
  enum PostgresBenchmarks {
    static func run(_ arguments: some Sequence<String>) throws -> Int32 {
      throw BenchmarkError(
        "PostgresOperations is missing, because the header of libpq was missing; `.ci/postgres` "
          + "installs it")
    }
  }
#endif
