#if canImport(PostgresOperations)
  import CompositeOperations
  import DurableOperations
  import PostgresOperations

  /// A flow with one step of 10 ms.
  struct NapFlow: DurableSequence {
    let number: Int

    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
      previous == nil ? NapStep(number: number) : nil
    }

    func output(of steps: FinishedSteps) -> Int { steps.last(of: NapStep.self) ?? 0 }
  }

  private struct NapStep: ComposableOperation {
    let number: Int

    func perform(in context: OperationContext) async throws -> Int {
      try await Task.sleep(for: .milliseconds(10))
      return number
    }
  }

  /// A flow whose step is many child flows.
  struct ManyNaps: DurableSequence {
    let count: Int

    mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
      if previous != nil { return nil }
      return ParallelOperation(
        (0..<count).map { ChildFlow(NapFlow(number: $0), named: "nap-\($0)") })
    }

    func output(of steps: FinishedSteps) -> Int {
      steps.last?.result(as: [Int].self)?.reduce(0, +) ?? 0
    }
  }

  extension Shape {
    /// A flow with many child flows on two workers, beside a batch of as many tasks by pgbench.
    static func postgresChildren(_ count: Int, on server: PostgresServer) -> Shape {
      let children = PostgresChildren(count: count, server: server)
      let example = Prepared { Result { try StoredExample(on: server) } }
      func way(_ name: String, isWhole: Bool) -> Way {
        .blocking(
          name, .limit,
          sampling: { try children.pgbenchSample(example.value.get(), isWhole: isWhole) })
      }
      return Shape(
        id: "children",
        title: "\(count.grouped) child flows of 10 ms, by \(PostgresChildren.workers) workers",
        operations: 1, unit: .milliseconds,
        ways: [
          Way(PostgresCatalogue.ours, .ours, sampling: { try await children.sample() }),
          way(PostgresCatalogue.pgbench, isWhole: true),
          way("pgbench, spawn", isWhole: false),
        ])
    }
  }

  private struct PostgresChildren {
    static let workers = 2
    private static let width = 16
    private static let claimed = 50

    let count: Int
    let server: PostgresServer

    private var checksum: UInt64 { UInt64(count * (count - 1) / 2) }

    func sample() async throws -> Sample {
      try await server.withQueue { queue in
        let workers = try (0..<Self.workers).map { _ in
          try WorkerProcess(
            ["work", server.address, queue, "\(Self.width)"], running: PostgresProcess.command)
        }
        for worker in workers { _ = try worker.read() }
        let store = RunStore.postgres(server.address, queue: queue)
        _ = try await store.runs(limit: 1)
        try server.settle(queue)
        let start = ContinuousClock.now
        let run = try await store.start(ManyNaps(count: count), named: "parent")
        let sum = try await run.outcome.get()
        let nanoseconds = Stopwatch.nanoseconds(since: start)
        await store.close()
        for worker in workers { worker.kill() }
        return Sample(amount: nanoseconds, checksum: UInt64(sum))
      }
    }

    // MARK: pgbench

    func pgbenchSample(_ example: StoredExample, isWhole: Bool) throws -> Sample {
      try BlockingWait.value {
        try await server.withQueue { queue in
          try server.settle(queue)
          var nanoseconds = try server.pgbench(
            Self.spawn, clients: Self.workers, transactions: count,
            [
              "queue": queue, "i": "0", "parameters": example.parameters,
              "options": example.options,
            ])
          if isWhole {
            nanoseconds += try server.pgbench(
              Self.completion, clients: Self.workers, transactions: count,
              ["queue": queue, "i": "\(Self.claimed)", "outcome": example.outcome])
            let completed = try server.query(
              "select count(*) from absurd.t_\(queue) where state = 'completed'")
            guard completed == "\(count)" else {
              throw BenchmarkError("pgbench has completed \(completed) of \(count) tasks")
            }
          }
          return Sample(amount: nanoseconds, checksum: checksum)
        }
      }
    }

    /// A transaction is a task.
    private static let spawn = """
      \\set i :i + 1
      select absurd.spawn_task(:queue, 'Nap', :parameters::jsonb, jsonb_set(:options::jsonb, '{idempotency_key}', to_jsonb('nap-' || :client_id || '-' || :i)));
      """

    /// A transaction is a task.
    private static let completion = """
      \\if :i >= \(claimed)
      select array_agg(run_id) as attempts from absurd.claim_task(:queue, 'pgbench', 30, \(claimed)) \\gset
      \\set i 0
      \\endif
      \\set i :i + 1
      select absurd.complete_run(:queue, (:attempts::uuid[])[:i], :outcome::jsonb);
      """
  }
#endif
