import CompositeOperations
import DurableOperations
import SQLiteSupport

extension Shape {
  /// Steps of durable flows, beside SQLite alone and other engines.
  ///
  /// - Parameters:
  ///   - peers: The other engines.
  ///   - count: The number of steps that the other engines run, which take longer.
  static func durableSteps(
    _ id: String, _ work: FlowWork, _ peers: Peers? = nil, count: Int = 0
  ) -> Shape {
    let bare = Prepared { Result { try work.bareInsert() } }
    return Shape(
      id: id, title: work.title, operations: work.count, unit: .stepsPerSecond,
      ways: [
        Way(DurableCatalogue.ours, .ours) { try await work.sample() },
        .blocking(
          DurableCatalogue.bareInsert, .limit,
          sampling: { try work.sample(of: try bare.value.get()) }),
      ] + peerWays(for: work, peers, count: count))
  }

  private static func peerWays(for work: FlowWork, _ peers: Peers?, count: Int) -> [Way] {
    let shape = work.flows == 1 ? "flow" : "flows"
    return (peers?.running ?? []).flatMap { peer in
      peer.offers.indices.filter { peer.offers[$0].shape == shape }.map { number in
        .blocking(
          peer.offers[number].name, .peer,
          sampling: {
            let sample = try peer.sample(number, count: count)
            let expected = FlowWork.checksum(flows: work.flows, steps: count / work.flows)
            guard sample.checksum == expected else {
              throw BenchmarkError("the checksum is \(sample.checksum), not \(expected)")
            }
            return work.sample(nanosecondsPerStep: sample.amount / Double(count))
          })
      }
    }
  }
}

/// A number of flows that run at once, each with a number of steps.
struct FlowWork: Sendable {
  let flows: Int
  let steps: Int
  var durability = RunStoreOptions.Durability.full
  /// Whether twice as many processes as there are cores keep them busy meanwhile.
  var isUnderLoad = false
  let folder: DurableFolder

  private static let load = Prepared { Result { try BusyProcesses(count: 2 * Cores.count) } }

  init(
    flows: Int, steps: Int, durability: RunStoreOptions.Durability = .full,
    isUnderLoad: Bool = false, in folder: DurableFolder
  ) {
    self.flows = flows
    self.steps = steps
    self.durability = durability
    self.isUnderLoad = isUnderLoad
    self.folder = folder
  }

  var title: String {
    let subject = flows == 1 ? "one flow" : "\(flows) flows at once"
    let load = isUnderLoad ? ", \(2 * Cores.count) busy processes" : ""
    return "\(subject), \(durability == .full ? "FULL" : "NORMAL")\(load)"
  }

  var count: Int { flows * steps }

  /// The sum of the results of all steps.
  static func checksum(flows: Int, steps: Int) -> UInt64 { UInt64(flows * steps * (steps - 1) / 2) }

  // MARK: Durable flows

  func sample() async throws -> Sample {
    try await folder.withFile { file in
      let store = RunStore.sqlite(file, options: RunStoreOptions(durability: durability))
      // Creates the file.
      _ = try await store.runs(limit: 1)
      let load = try startLoad()
      defer { load?.pause() }
      let start = ContinuousClock.now
      let sum = try await run(in: store)
      let nanoseconds = Stopwatch.nanoseconds(since: start)
      await store.close()
      return Sample(amount: nanoseconds, checksum: UInt64(sum))
    }
  }

  private func run(in store: RunStore) async throws -> Int {
    let flow = CountingFlow(count: steps)
    if flows == 1 { return try await DurableOperation(flow, named: "run", in: store).run().get() }
    let operations = (0..<flows).map { DurableOperation(flow, named: "run-\($0)", in: store) }
    let sums = try await ParallelOperation(operations, width: .limited(to: flows)).run().get()
    return sums.reduce(0, +)
  }

  // MARK: SQLite alone

  /// The rows that the flows store, at most 2,000, for inserts without a flow.
  func bareInsert() throws -> BareInsert {
    try BlockingWait.value {
      try await folder.withFile { file in
        let store = RunStore.sqlite(file, options: RunStoreOptions(durability: .normal))
        _ = try await run(in: store)
        await store.close()
        return try BareInsert(rowsOf: file, limit: 2_000)
      }
    }
  }

  func sample(of bareInsert: BareInsert) throws -> Sample {
    let file = try folder.makeFile()
    defer { folder.remove(file) }
    let load = try startLoad()
    defer { load?.pause() }
    return sample(
      nanosecondsPerStep: try bareInsert.nanosecondsPerRow(
        into: file, durability: durability == .full ? .full : .normal))
  }

  /// The sample of another program that has run a different number of steps.
  func sample(nanosecondsPerStep: Double) -> Sample {
    Sample(
      amount: nanosecondsPerStep * Double(count),
      checksum: Self.checksum(flows: flows, steps: steps))
  }

  private func startLoad() throws -> BusyProcesses? {
    guard isUnderLoad else { return nil }
    let load = try Self.load.value.get()
    load.resume()
    return load
  }
}
