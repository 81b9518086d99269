import Dispatch
import Synchronization

/// `Benchmarks [FILTER] [--rounds N] [--count N]`: runs the shapes and ways whose names contain
/// FILTER, all ways of a shape in turn with all cores awake, and prints medians and ratios.
@main struct Main {
  private var filter = ""
  private var rounds = 7
  private var count = 100_000
  private var isExact = false

  static func main() {
    var main = Main()
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      switch argument {
      case "--rounds": main.rounds = arguments.popFirst().flatMap { Int($0) } ?? main.rounds
      case "--count": main.count = arguments.popFirst().flatMap { Int($0) } ?? main.count
      case "--exact": main.isExact = true
      default: main.filter = argument
      }
    }
    print("ns per operation: median (least, most), and how much less than the first way's\n")
    for shape in Shape.all(count: main.count) { main.run(shape()) }
  }

  private func run(_ shape: Shape) {
    let ways =
      shape.name.contains(filter)
      ? shape.ways : shape.ways.filter { $0.name.contains(filter) }
    if ways.isEmpty { return }
    var figures = ways.map { _ in [Double]() }
    var sums = Set<UInt64>()
    for round in 0...rounds {
      for (index, way) in ways.enumerated() {
        let sample = sample(way)
        sums.insert(sample.sum)
        if round > 0 { figures[index].append(sample.nanoseconds) }
      }
    }
    precondition(sums.count == 1, "The ways of \(shape.name) do not agree: \(sums).")
    print(shape.name)
    let medians = figures.map { $0.sorted()[rounds / 2] }
    for (index, way) in ways.enumerated() {
      let spread = "(\(tenths(figures[index].min() ?? 0)), \(tenths(figures[index].max() ?? 0)))"
      print(
        "  " + padded(way.name, 28), leading(tenths(medians[index]), 9), leading(spread, 20),
        leading("\(tenths(medians[0] / medians[index])) ×", 9))
    }
    print()
  }

  private struct Sample {
    let nanoseconds: Double
    let sum: UInt64
  }

  /// Waits on the main thread, so that the pool's threads are the benchmark's.
  private func sample(_ way: Benchmark) -> Sample {
    let result = Mutex(Sample(nanoseconds: 0, sum: 0))
    let isDone = DispatchSemaphore(value: 0)
    Task.detached { [isExact] in
      if !isExact { await Self.wakeAllCores() }
      let start = ContinuousClock.now
      let sum = (try? await way.body()) ?? .max
      let nanoseconds = (ContinuousClock.now - start) / .nanoseconds(1)
      result.withLock {
        $0 = Sample(nanoseconds: nanoseconds / Double(way.operations), sum: sum)
      }
      isDone.signal()
    }
    isDone.wait()
    return result.withLock { $0 }
  }

  /// Keeps every core busy for a moment: one that sleeps takes long to join in.
  private static func wakeAllCores() async {
    let cores = 2
    let arrived = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<cores {
        group.addTask {
          arrived.count.wrappingAdd(1, ordering: .sequentiallyConsistent)
          let limit = ContinuousClock.now + .milliseconds(30)
          while arrived.count.load(ordering: .relaxed) < cores, ContinuousClock.now < limit {}
          let end = ContinuousClock.now + .microseconds(200)
          while ContinuousClock.now < end {}
        }
      }
    }
  }

  private final class Counter: Sendable {
    let count = Atomic(0)
  }
}

private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

private func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

private func leading(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}
