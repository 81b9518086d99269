#if canImport(PostgresOperations)
  import DurableOperations
  import PostgresOperations

  extension Shape {
    /// Steps of flows, beside pgbench with the same calls on the same server.
    static func postgresSteps(_ id: String, _ batch: FlowBatch, on server: PostgresServer) -> Shape
    {
      let steps = PostgresSteps(batch: batch, server: server)
      let example = Prepared { Result { try StoredExample(on: server) } }
      return Shape(
        id: id, title: batch.title, operations: batch.count * FlowBatch.steps,
        unit: .stepsPerSecond,
        ways: [
          Way(PostgresCatalogue.ours, .ours, sampling: { try await steps.sample() }),
          .blocking(
            PostgresCatalogue.pgbench, .limit,
            sampling: { try steps.pgbenchSample(example.value.get()) }),
        ])
    }
  }

  /// The texts that a run has stored, for calls with values of the same size.
  struct StoredExample: Sendable {
    /// The parameters and the options of the task.
    let parameters, options: String
    /// The state of a checkpoint in the middle.
    let checkpoint: String
    let outcome: String

    init(on server: PostgresServer) throws {
      self = try BlockingWait.value { try await Self.stored(on: server) }
    }

    private init(parameters: String, options: String, checkpoint: String, outcome: String) {
      self.parameters = parameters
      self.options = options
      self.checkpoint = checkpoint
      self.outcome = outcome
    }

    private static func stored(on server: PostgresServer) async throws -> StoredExample {
      try await server.withQueue { queue in
        let store = RunStore.postgres(server.address, queue: queue)
        let batch = FlowBatch(count: 1, width: 1)
        try await batch.start(in: store)
        _ = try await batch.run(in: store)
        await store.close()
        let headers = try server.query("select headers from absurd.t_\(queue)")
        return StoredExample(
          parameters: try server.query("select params from absurd.t_\(queue)"),
          options: #"{"headers": \#(headers), "idempotency_key": ""}"#,
          checkpoint: try server.query(
            "select state from absurd.c_\(queue) order by checkpoint_name offset 5 limit 1"),
          outcome: try server.query("select completed_payload from absurd.t_\(queue)"))
      }
    }
  }

  private struct PostgresSteps {
    let batch: FlowBatch
    let server: PostgresServer

    func sample() async throws -> Sample {
      try await server.withQueue { queue in
        let store = try await started(in: queue)
        let nanoseconds = try await batch.run(in: store)
        await store.close()
        return Sample(amount: nanoseconds, checksum: try checksum(queue))
      }
    }

    /// Returns a store in which the flows are started, with open connections.
    private func started(in queue: String) async throws -> RunStore {
      let store = RunStore.postgres(server.address, queue: queue)
      try await batch.start(in: store)
      try server.settle(queue)
      return store
    }

    /// The number of stored steps of completed tasks.
    private func checksum(_ queue: String) throws -> UInt64 {
      let count = try server.query(
        """
        select count(*) from absurd.c_\(queue) join absurd.t_\(queue) using (task_id)
        where t_\(queue).state = 'completed'
        """)
      return UInt64(count) ?? 0
    }

    // MARK: pgbench

    func pgbenchSample(_ example: StoredExample) throws -> Sample {
      try BlockingWait.value {
        try await server.withQueue { queue in
          try await started(in: queue).close()
          let nanoseconds = try server.pgbench(
            script, clients: batch.width, transactions: batch.count,
            [
              "queue": queue, "i": "\(claimed)", "state": example.checkpoint,
              "outcome": example.outcome,
            ])
          return Sample(amount: nanoseconds, checksum: try checksum(queue))
        }
      }
    }

    /// How many tasks a client claims at a time: as many as the worker, which claims when half of its
    /// places are free.
    private var claimed: Int { min(max(1, batch.width / 2), batch.count / batch.width) }

    /// A transaction is a task.
    private var script: String {
      let steps = (0..<FlowBatch.steps).map { step in
        """
        select absurd.set_task_checkpoint_state(:queue, (:tasks::uuid[])[:i], '000000000\(step)', :state::jsonb, (:attempts::uuid[])[:i], 30);
        """
      }
      return """
        \\if :i >= \(claimed)
        select array_agg(task_id) as tasks, array_agg(run_id) as attempts from absurd.claim_task(:queue, 'pgbench', 30, \(claimed)) \\gset
        \\set i 0
        \\endif
        \\set i :i + 1
        \(steps.joined(separator: "\n"))
        select absurd.complete_run(:queue, (:attempts::uuid[])[:i], :outcome::jsonb);
        """
    }
  }
#endif
