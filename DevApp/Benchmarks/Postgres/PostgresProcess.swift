#if canImport(PostgresOperations)
  import CompositeOperations
  import DurableOperations
  import PostgresOperations

  /// The work of a process that the benchmarks on PostgreSQL start: `Benchmarks postgres-process
  /// ROLE ADDRESS QUEUE ARGUMENT…`.
  enum PostgresProcess {
    static let command = "postgres-process"
    /// The lease of a process that is killed.
    static let shortLease = Duration.seconds(2)

    /// - Throws: An error if the role or its arguments are not valid, or if the work fails.
    static func run(_ arguments: some Collection<String>) throws {
      let arguments = Array(arguments)
      switch arguments.first {
      case "work" where arguments.count == 4:
        try work(arguments[1], queue: arguments[2], width: Int(arguments[3]) ?? 1)
      case "own" where arguments.count == 3: try own(arguments[1], queue: arguments[2])
      default: throw UsageError("invalid process '\(arguments.joined(separator: " "))'")
      }
    }

    /// Runs flows until the process is killed.
    private static func work(_ address: String, queue: String, width: Int) throws {
      try BlockingWait.value {
        let store = RunStore.postgres(address, queue: queue)
        // Opens a connection.
        _ = try await store.runs(limit: 1)
        try StandardOutput.write("ready")
        let worker = DurableWorker(
          in: store, running: [ManyNaps.self, NapFlow.self], width: .limited(to: width))
        _ = await worker.run()
      }
    }

    /// Runs a flow that waits, until the process is killed.
    private static func own(_ address: String, queue: String) throws {
      try BlockingWait.value {
        let store = RunStore.postgres(address, queue: queue, lease: shortLease)
        let worker = DurableWorker(in: store, running: [WaitingFlow.self])
        let task = Task { await worker.run() }
        _ = try await FlowTimes.wait(for: .stepBegan)
        try StandardOutput.write("owns")
        _ = await task.value
      }
    }
  }
#endif
