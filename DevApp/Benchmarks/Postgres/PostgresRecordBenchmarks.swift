#if canImport(PostgresOperations)
  import Foundation

  /// The benchmarks of records in PostgreSQL: `Benchmarks postgres-records`.
  enum PostgresRecordBenchmarks {
    /// - Returns: The exit status.
    static func run(_ arguments: some Sequence<String>) throws -> Int32 {
      let options = try DurableOptions(arguments, of: .postgresRecords)
      if options.wantsHelp {
        try StandardOutput.write(DurableOptions.Command.postgresRecords.usage)
        return 0
      }
      signal(SIGPIPE, SIG_IGN)
      Interruptions.endChildren()
      let server = try PostgresServer(hasFlows: false)
      defer { server.stop() }
      let records = try PostgresRecords(on: server, isQuick: options.isQuick)
      let table = DurableTable(
        goals: DurableGoal.postgresRecords, bases: [PostgresRecords.copy, PostgresRecords.psql])
      let problems = try table.show(
        records.shapes(named: options.shapes), rounds: options.rounds(of: .postgresRecords),
        databasesOn: "\(server.fileSystem), \(server.version)")
      return problems.isEmpty ? 0 : 1
    }
  }

  extension DurableOptions.Command {
    static let postgresRecords = DurableOptions.Command(
      name: "postgres-records",
      summary: """
        Measures records in a private PostgreSQL server beside psql with the same rows, and prints a
        table.
        """,
      rounds: 7, shapes: PostgresRecords.ids)
  }

  extension DurableGoal {
    /// The goals for records in PostgreSQL, for the default sizes.
    static let postgresRecords = [
      DurableGoal(
        "records-save", PostgresRecords.ours, .atLeastTimes(0.7, PostgresRecords.copy)),
      DurableGoal(
        "records-query", PostgresRecords.ours, .atLeastTimes(0.8, PostgresRecords.psql)),
      DurableGoal("records-hint", PostgresRecords.ours, .atMost(5)),
    ]
  }
#else
  /// The benchmarks of records in PostgreSQL, without the module that they measure.
  enum PostgresRecordBenchmarks {
    static func run(_ arguments: some Sequence<String>) throws -> Int32 {
      throw BenchmarkError(
        "PostgresOperations is missing, because the header of libpq was missing; `.ci/postgres` "
          + "installs it")
    }
  }
#endif
