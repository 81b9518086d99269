import CompositeOperations
import DurableOperations

extension Shape {
  /// The resumption of a run with many steps, of which the journal keeps one, in a new process.
  static func resume(steps: Int, in folder: DurableFolder) -> Shape {
    let journal = Prepared { Result { try makeJournal(steps: steps, in: folder) } }
    func way(_ name: String, _ index: Int) -> Way {
      .blocking(
        name, .ours,
        sampling: {
          let process = try WorkerProcess(["resume", journal.value.get(), "\(steps)"])
          return Sample(amount: try process.readNumbers(2)[index], checksum: 0)
        })
    }
    return Shape(
      id: "resume", title: "resumption of a run with \(steps.grouped) steps in a new process",
      operations: 1, unit: .milliseconds,
      ways: [way("from the claim", 0), way("from run()", 1)])
  }

  /// Creates a journal whose run has finished its steps and waits for the end of the next one.
  private static func makeJournal(steps: Int, in folder: DurableFolder) throws -> String {
    let file = try folder.makeFile()
    try BlockingWait.value {
      let store = RunStore.sqlite(file, options: RunStoreOptions(durability: .normal))
      let operation = DurableOperation(LongFlow(count: steps), named: "long", in: store)
      FlowTimes.reset()
      let task = Task { await operation.run() }
      _ = try await FlowTimes.wait(for: .stepBegan)
      task.cancel()
      _ = await task.value
      await store.close()
    }
    return file
  }

  /// The time from the SIGKILL of a process until a worker of another one runs its step.
  static func takeover(in folder: DurableFolder) -> Shape {
    Shape(
      id: "takeover", title: "from the SIGKILL of a worker until another one runs its step",
      operations: 1, unit: .milliseconds,
      ways: [
        Way("waiting worker", .ours, sampling: { try await takeoverSample(in: folder) })
      ])
  }

  private static func takeoverSample(in folder: DurableFolder) async throws -> Sample {
    try await folder.withFile { file in
      let store = RunStore.sqlite(file)
      try await store.start(WaitingFlow(), named: "run")
      let owner = try WorkerProcess(["own", file])
      _ = try owner.read()
      FlowTimes.reset()
      let worker = DurableWorker(in: store, running: [WaitingFlow.self])
      let task = Task { await worker.run() }
      // The worker waits by then, and may look for changes at any time.
      try await Task.sleep(for: .milliseconds(Int.random(in: 100..<150)))
      let start = ContinuousClock.now
      owner.kill()
      let began = try await FlowTimes.wait(for: .stepBegan)
      task.cancel()
      _ = await task.value
      await store.close()
      return Sample(amount: (began - start) / .nanoseconds(1), checksum: 0)
    }
  }
}
