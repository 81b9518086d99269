/// All shapes. Each is created when it is measured, so that the memory of the previous ones is
/// free.
struct Catalogue {
  /// The size of shapes of variable size.
  var count = 100_000
  /// Whether to include the sizes that show how a shape scales.
  var hasOtherSizes = true
  /// Whether to include a sequence that is short enough for a chain of dependencies.
  var hasShortSequence = true
  /// The number of operations with bodies of 1 µs.
  var busyCount = 100_000
  /// The number of processes that are run.
  var processCount = 2_000
  /// The number of HTTP requests for small bodies.
  var requestCount = 10_000
  /// The number of HTTP requests that are cancelled, one after another.
  var cancellationCount = 200
  /// The size of a large body that is received in memory, and written to a file, in megabytes.
  var bodySizes = (memory: 256, file: 1_000)

  var shapes: [() -> Shape] {
    fanOuts + sequences + graphs + composites + waits + endings + runs + memory + real + fairness
      + http
  }

  private var fanOuts: [() -> Shape] {
    [{ .fanOut(id: "fan-out", count: count, peerShapes: ["fan-out"]) }]
      + sizes(1_000, 10_000, 1_000_000) { name, size in .fanOut(id: "fan-out-\(name)", count: size)
      }
      + [{ .synchronous(count: count) }]
      + [{ .fanOut(id: "busy", count: busyCount, steps: Self.microsecond, peerShapes: ["busy"]) }]
  }

  private var sequences: [() -> Shape] {
    [{ .sequence(id: "sequence", count: count, peerShapes: ["chain"]) }]
      + (hasShortSequence ? [{ .sequence(id: "sequence-1k", count: 1_000) }] : [])
  }

  private var graphs: [() -> Shape] {
    [
      { .graph("graph-chain", .chain(count), peerShapes: ["graph-chain"]) },
      { .graph("graph-fan", .fan(count), peerShapes: ["graph-fan"]) },
      { .graph("graph-diamonds", .diamonds(count)) }, { .graph("graph-layers", .layers(count)) },
      { .graph("graph-random", .random(count)) },
    ] + (hasShortSequence ? shortGraphs : [])
  }

  /// Graphs that are short enough for the dependencies of a queue, which take quadratic time.
  private var shortGraphs: [() -> Shape] {
    [
      { .graph("graph-chain-1k", .chain(1_000), isShort: true) },
      { .graph("graph-fan-1k", .fan(1_000), isShort: true) },
      { .graph("graph-diamonds-1k", .diamonds(1_000), isShort: true) },
      { .graph("graph-layers-1k", .layers(1_000), isShort: true) },
      { .graph("graph-random-1k", .random(1_000), isShort: true) },
    ]
  }

  private var composites: [() -> Shape] {
    [
      { .nested(count: count) }, { .pairs(count: count) },
      { .pairsAfterLight(steps: 30_000 * Self.microsecond) }, { .eights(count: count) },
      { .tree() }, { .deep() }, { .lazy(count: count) },
    ]
  }

  private var waits: [() -> Shape] {
    [
      { .sleep() }, { .continuations() }, { .pipes() }, { .mixedWaits() },
      { .endingInOrder() }, { .endingInReverse() }, { .endingAtRandom() },
    ]
  }

  private var endings: [() -> Shape] {
    [{ .failure(id: "failure", count: 10_000) }]
      + sizes(1_000, 100_000) { name, size in .failure(id: "failure-\(name)", count: size) }
      + [{ .cancellation(id: "cancellation", count: 10_000) }]
      + sizes(1_000, 100_000) { name, size in
        .cancellation(id: "cancellation-\(name)", count: size)
      }
  }

  private var runs: [() -> Shape] {
    [
      { .single(count: count) }, { .pool(count: count) }, { .modifiers(count: min(count, 20_000)) },
      { .rate(count: min(count, 100_000)) }, { .observed(id: "observed", count: count) },
      { .observed(id: "observed-busy", count: busyCount, steps: Self.microsecond) },
      { .events(count: count) }, { .recording(count: count) },
      { .processes(count: processCount) }, { .blocking() },
    ] + spawns
  }

  private var spawns: [() -> Shape] {
    guard let compiler = StaticProgram.compiler else { return [] }
    return [{ .spawns(count: processCount, compiler: compiler) }]
  }

  private var memory: [() -> Shape] {
    #if canImport(Glibc)
      [{ .idleMemory(count: count) }, { .waitingMemory(count: 10_000) }]
    #else
      []
    #endif
  }

  private var real: [() -> Shape] {
    [{ .fetches() }, { .crowded(count: count) }, { .bursts() }]
  }

  private var http: [() -> Shape] {
    #if os(Linux)
      [
        { .smallRequests(connections: 1, count: requestCount / 2) },
        { .smallRequests(connections: 8, count: requestCount) },
        { .smallRequests(connections: 64, count: requestCount) },
        { .largeBodyToMemory(megabytes: bodySizes.memory) },
        { .largeBodyToFile(megabytes: bodySizes.file) }, { .waitingRequests(count: 1_000) },
        { .requestsBesideWaiting(count: requestCount / 2, waiting: 1_000) },
        { .cancelledRequests(id: "http-cancel", width: 1, times: cancellationCount) },
        { .cancelledBody(times: cancellationCount) },
        { .cancelledRequests(id: "http-cancel-64", width: 64, times: cancellationCount) },
      ]
    #else
      []
    #endif
  }

  private var fairness: [() -> Shape] {
    [
      { .heavyAfterLight(microsecond: Self.microsecond) },
      { .eightLong(microsecond: Self.microsecond) },
      { .timeoutOfComputation(microsecond: Self.microsecond) }, { .shortBesideEndless() },
    ]
  }

  /// The steps of a body that takes about a microsecond.
  private static let microsecond = 800

  private func sizes(
    _ sizes: Int..., make: @escaping (_ name: String, _ size: Int) -> Shape
  ) -> [() -> Shape] {
    if !hasOtherSizes { return [] }
    return sizes.map { size in
      { make(size < 1_000_000 ? "\(size / 1_000)k" : "\(size / 1_000_000)m", size) }
    }
  }
}
