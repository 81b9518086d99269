#if canImport(PostgresOperations)
  import CompositeOperations
  import DurableOperations
  import PostgresOperations

  extension Shape {
    /// The time from the SIGKILL of a worker until another one begins its step, without the lease.
    static func postgresTakeover(on server: PostgresServer) -> Shape {
      Shape(
        id: "takeover",
        title: "from the SIGKILL of a worker until another one runs its step, minus the lease",
        operations: 1, unit: .milliseconds,
        ways: [
          Way(
            PostgresCatalogue.ours, .ours,
            sampling: { try await server.withQueue { try await takeoverSample(on: server, $0) } })
        ])
    }

    private static func takeoverSample(
      on server: PostgresServer, _ queue: String
    ) async throws -> Sample {
      let store = RunStore.postgres(server.address, queue: queue, lease: PostgresProcess.shortLease)
      try await store.start(WaitingFlow(), named: "run")
      let owner = try WorkerProcess(
        ["own", server.address, queue], running: PostgresProcess.command)
      _ = try owner.read()
      FlowTimes.reset()
      let worker = DurableWorker(in: store, running: [WaitingFlow.self])
      let task = Task { await worker.run() }
      // The worker waits by then. The owner may have extended its lease at any time.
      try await Task.sleep(for: .milliseconds(Int.random(in: 1_000..<2_000)))
      let start = ContinuousClock.now
      owner.kill()
      let began = try await FlowTimes.wait(for: .stepBegan)
      task.cancel()
      _ = await task.value
      await store.close()
      let time = began - start - PostgresProcess.shortLease
      return Sample(amount: time / .nanoseconds(1), checksum: 0)
    }

    /// The statements of a worker without runs, after it has become idle.
    static func postgresIdle(seconds: Int, on server: PostgresServer) -> Shape {
      Shape(
        id: "idle", title: "statements of an idle worker in \(seconds) s", operations: seconds,
        unit: .statementsPerSecond,
        ways: [
          Way(
            PostgresCatalogue.ours, .ours,
            sampling: {
              try await server.withQueue { queue in
                try await idleSample(seconds: seconds, on: server, queue)
              }
            })
        ])
    }

    private static func idleSample(
      seconds: Int, on server: PostgresServer, _ queue: String
    ) async throws -> Sample {
      let name = "idle-\(queue)"
      let worker = try WorkerProcess(
        ["work", server.loggingAddress(for: name), queue, "16"], running: PostgresProcess.command)
      _ = try worker.read()
      // After ten claims that find nothing, it waits longer between claims.
      try await Task.sleep(for: .seconds(5))
      let before = try server.loggedStatements(of: name)
      try await Task.sleep(for: .seconds(seconds))
      let count = try server.loggedStatements(of: name) - before
      worker.kill()
      if count == 0 { throw BenchmarkError("the worker has logged no statement") }
      return Sample(amount: Double(count), checksum: 0)
    }
  }
#endif
