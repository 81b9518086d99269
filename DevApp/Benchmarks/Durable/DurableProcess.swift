import CompositeOperations
import DurableOperations
import Foundation
import HeapUse

/// The work of a process that the benchmarks of durable flows start: `Benchmarks durable-process
/// ROLE ARGUMENT…`.
enum DurableProcess {
  static let command = "durable-process"

  /// - Throws: An error if the role or its arguments are not valid, or if the work fails.
  static func run(_ arguments: some Collection<String>) throws {
    let arguments = Array(arguments)
    switch arguments.first {
    case "busy": try keepBusy()
    case "own" where arguments.count == 2: try own(arguments[1])
    case "resume" where arguments.count == 3:
      try resume(arguments[1], steps: Int(arguments[2]) ?? 0)
    case "park" where arguments.count == 3: try park(arguments[1], count: Int(arguments[2]) ?? 0)
    default: throw UsageError("invalid process '\(arguments.joined(separator: " "))'")
    }
  }

  /// Computes until the input ends.
  private static func keepBusy() throws {
    try StandardOutput.write("ready")
    var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, 0) == 0 { _ = work(1, steps: 1_000_000) }
  }

  /// Runs a flow that waits, until the process is killed.
  private static func own(_ file: String) throws {
    try BlockingWait.value {
      let worker = DurableWorker(in: .sqlite(file), running: [WaitingFlow.self])
      let task = Task { await worker.run() }
      _ = try await FlowTimes.wait(for: .stepBegan)
      try StandardOutput.write("owns")
      _ = await task.value
    }
  }

  /// Resumes the long flow until its next operation is asked for, and prints the nanoseconds since
  /// the claim, and since the start.
  private static func resume(_ file: String, steps: Int) throws {
    try BlockingWait.value {
      let store = RunStore.sqlite(file) { step, _ in
        if step == .beforeCommit { FlowTimes.note(.commit) }
      }
      let start = ContinuousClock.now
      let operation = DurableOperation(LongFlow(count: steps), named: "long", in: store)
      let task = Task { await operation.run() }
      let asked = try await FlowTimes.wait(for: .nextOperation)
      // The commit of the claim is the last one before.
      guard let claimed = FlowTimes.last(.commit) else { throw BenchmarkError("no claim") }
      try StandardOutput.write(
        "\((asked - claimed) / .nanoseconds(1)) \((asked - start) / .nanoseconds(1))")
      // The run is released for the next process.
      task.cancel()
      _ = await task.value
      await store.close()
    }
  }

  // MARK: Parked runs

  /// Parks runs, then runs some more for each line of the input.
  ///
  /// Prints the growth of the resident memory and of the heap since the worker has begun, in bytes.
  /// For each number in the input, it parks as many runs until one time, and prints the nanoseconds
  /// from that time until all have begun, and the growth of the memory.
  private static func park(_ file: String, count: Int) throws {
    let store = RunStore.sqlite(file, options: RunStoreOptions(parkingThreshold: .zero))
    let worker = DurableWorker(in: store, running: [SleepingFlow.self])
    let task = Task { await worker.run() }
    defer { task.cancel() }
    let before = try BlockingWait.value {
      // The worker, and its connections, are in use.
      try await start(100, in: store, named: "first", until: farFuture)
      return try Memory.current
    }
    try BlockingWait.value { try await start(count, in: store, named: "parked", until: farFuture) }
    try StandardOutput.write("\(try Memory.current.growth(since: before))")
    var round = 0
    while let line = readLine(), let due = Int(line) {
      round += 1
      let name = "due-\(round)"
      let nanoseconds = try BlockingWait.value { try await wake(due, in: store, named: name) }
      try StandardOutput.write("\(nanoseconds) \(try Memory.current.growth(since: before))")
    }
  }

  /// A year from now.
  private static var farFuture: Int64 { wallClock + 365 * 86_400_000 }

  private static var wallClock: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  /// Starts runs that sleep until a time, and waits until all of them are parked.
  private static func start(
    _ count: Int, in store: RunStore, named name: String, until wake: Int64
  ) async throws {
    try await withThrowingTaskGroup { group in
      for part in 0..<64 {
        group.addTask {
          for number in stride(from: part, to: count, by: 64) {
            try await store.start(SleepingFlow(wake: wake), named: "\(name)-\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
    // Not often, because it reads all runs.
    while try await !store.runs(in: [.ready, .running], limit: 1).isEmpty {
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// - Returns: The nanoseconds from the time at which the runs are due until all have begun.
  private static func wake(
    _ count: Int, in store: RunStore, named name: String
  ) async throws -> Double {
    if count == 0 { return 0 }
    let delay = Duration.seconds(3)
    let due = ContinuousClock.now + delay
    FlowTimes.reset()
    try await start(count, in: store, named: name, until: wallClock + 3_000)
    guard ContinuousClock.now < due else {
      throw BenchmarkError("\(count) runs could not be parked within \(delay)")
    }
    return (try await FlowTimes.wait(for: .stepBegan, times: count) - due) / .nanoseconds(1)
  }

  /// The memory of this process in bytes.
  private struct Memory: Sendable {
    let resident: Int
    let heap: Int

    static var current: Memory {
      get throws {
        // The second number is the resident memory in pages.
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
          let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw BenchmarkError("the resident memory is known only on Linux") }
        return Memory(resident: pages * Int(getpagesize()), heap: Int(heap_bytes_in_use()))
      }
    }

    func growth(since before: Memory) -> String {
      "\(resident - before.resident) \(heap - before.heap)"
    }
  }
}
