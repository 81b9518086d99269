import CompositeOperations
import CompositeOperationsTestKit

/// Random callers of shared runs, some of which are cancelled, in a random order on one worker.
struct SharedTrial: Sendable {
  enum Entry: Sendable {
    case asked(Int)
    case began(key: Int, run: Int)
    case ended(key: Int, run: Int, isCancelled: Bool)
    case cancelled(Int)
    case got(Int, run: Int?)
  }

  /// Keys of which some have the same hash value.
  private struct Key: Hashable, Sendable {
    let number: Int
    let hash: Int

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  let seed: UInt64
  let keys: [Int]
  /// How many hash values the keys have.
  let hashCount: Int
  let turns: Int
  /// The number of jobs after which each cancelled caller is cancelled, by the index of the caller.
  let cancellations: [Int: Int]

  init(seed: UInt64) {
    self.seed = seed
    var chance = Chance(seed: seed)
    keys = (0..<chance.number(1...8)).map { _ in chance.number(0...1) }
    turns = chance.number(0...4)
    hashCount = chance.number(1...2)
    var cancellations: [Int: Int] = [:]
    for index in keys.indices where chance.percent(40) {
      cancellations[index] = chance.number(1...30)
    }
    self.cancellations = cancellations
  }

  func findings() async -> [String] {
    let log = Log<Entry>()
    let runs = SharedRuns<Key, Int>()
    let numbers = Log<Void>()
    let executor = SeededExecutor(seed: seed)
    let environment = OperationEnvironment(executor: executor)
    let handles = keys.enumerated().map { index, key in
      let base = SimpleOperation {
        numbers.add(())
        let run = numbers.count
        log.add(.began(key: key, run: run))
        for _ in 0..<turns where !Task.isCancelled { await Task.yield() }
        log.add(.ended(key: key, run: run, isCancelled: Task.isCancelled))
        return run
      }.shared(in: runs, for: Key(number: key, hash: key % hashCount))
      return SimpleOperation.withContext { context in
        log.add(.asked(index))
        let result = await context.outcome(of: base).result
        log.add(.got(index, run: result))
        return result ?? 0
      }.start(in: environment)
    }
    executor.drain { job in
      for (index, moment) in cancellations.sorted(by: { $0.key < $1.key }) where moment == job {
        log.add(.cancelled(index))
        handles[index].cancel()
      }
    }
    var findings = judged(log.entries)
    if runs.runningCount > 0 { findings.append("H1: \(runs.runningCount) runs are left") }
    return findings.map { "\($0)\n\(self)\n\(log.entries)" }
  }

  private func judged(_ entries: [Entry]) -> [String] {
    var findings: [String] = []
    func expect(_ isRight: Bool, _ rule: String) { if !isRight { findings.append(rule) } }
    var asking: Set<Int> = []
    var cancelled: Set<Int> = []
    var going: [Int: Int] = [:]
    var ended: [Int: Bool] = [:]
    var got: [Int: Int?] = [:]
    /// The run whose value each caller will receive.
    var settled: [Int: Int] = [:]
    /// The active runs that have lost all their callers.
    var unwanted: Set<Int> = []
    func isWanted(_ key: Int) -> Bool {
      asking.contains { keys[$0] == key && !cancelled.contains($0) && settled[$0] == nil }
    }
    for entry in entries {
      switch entry {
      case .asked(let index): asking.insert(index)
      case .began(let key, let run):
        let others = going.filter { $0.value == key && ended[$0.key] == nil }.keys
        expect(isWanted(key), "H2: run \(run) began without a caller")
        // A run without callers may still be ending.
        expect(others.allSatisfy { unwanted.contains($0) }, "H1: two runs of \(key)")
        going[run] = key
      case .ended(let key, let run, let isCancelled):
        expect(
          isCancelled == unwanted.contains(run),
          "H2: run \(run) of \(key) is cancelled: \(isCancelled)")
        ended[run] = isCancelled
        if isCancelled { continue }
        for index in asking where keys[index] == key && !cancelled.contains(index) {
          settled[index] = settled[index] ?? run
        }
      case .cancelled(let index):
        cancelled.insert(index)
        if isWanted(keys[index]) { continue }
        for (run, key) in going where key == keys[index] && ended[run] == nil {
          unwanted.insert(run)
        }
      case .got(let index, let run):
        asking.remove(index)
        got[index] = run
        if let run {
          expect(settled[index] == run && going[run] == keys[index], "H1: \(index) got \(run)")
        } else {
          expect(cancelled.contains(index), "H1: \(index) got nothing")
        }
      }
    }
    let silent = keys.indices.filter { got[$0] == nil && !cancelled.contains($0) }
    expect(silent.isEmpty, "H1: \(silent) never got anything")
    return findings
  }
}
