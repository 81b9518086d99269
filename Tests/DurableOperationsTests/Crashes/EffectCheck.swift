import DurableOperations
import DurableTestSupport
import Foundation

/// Checks that no finished work runs again, from the journal after each kill and the effects.
struct EffectCheck {
  /// How often each body runs in an undisturbed run, by its idempotency key.
  private let undisturbed: [String: Int]
  /// The work that was finished when a process ended, with the number of effects at that time.
  private var finished: [(prefix: String, count: Int)] = []
  private var known: Set<String> = []
  /// How often a body was in flight when a process ended, by its idempotency key.
  private var interrupted: [String: Int] = [:]
  private var seenLines = 0

  init(undisturbed effects: [EffectLine]) {
    undisturbed = Dictionary(effects.map { ($0.key, 1) }, uniquingKeysWith: +)
  }

  /// Remembers what the journal says after a process has ended.
  ///
  /// - Parameter runs: All runs of the journal.
  mutating func processEnded(_ runs: [RunDetails], effects: [EffectLine]) {
    for run in runs {
      let id = run.summary.id.text.escaped
      // The rows of a limited history are deleted, so the number of steps counts.
      var prefixes = (0..<run.summary.step).map { "\(id)/\($0)." }
      prefixes += run.steps.filter { !$0.key.isEmpty && $0.kind == .result }.map {
        "\(id)/\($0.position).\($0.name.escaped)/\($0.key)"
      }
      if run.summary.state.hasEnded { prefixes.append("\(id)/") }
      for prefix in prefixes where known.insert(prefix).inserted {
        finished.append((prefix, effects.count))
      }
    }
    let prefixes = finished.map(\.prefix)
    for key in Set(effects[seenLines...].map(\.key)) {
      if !prefixes.contains(where: key.hasPrefix) { interrupted[key, default: 0] += 1 }
    }
    seenLines = effects.count
  }

  /// - Parameter effects: All effects, after the last process has ended.
  /// - Returns: A line for each violation.
  func problems(_ effects: [EffectLine]) -> [String] {
    var problems: [String] = []
    for (prefix, count) in finished {
      for line in effects[count...] where line.key.hasPrefix(prefix) {
        problems.append("\(line.key) runs in launch \(line.launch), after \(prefix) was finished")
      }
    }
    let totals = Dictionary(effects.map { ($0.key, 1) }, uniquingKeysWith: +)
    for key in Set(totals.keys).union(undisturbed.keys) {
      let (total, once) = (totals[key, default: 0], undisturbed[key, default: 0])
      let most = once + interrupted[key, default: 0]
      if total < once || total > most {
        problems.append("\(key) runs \(total) times, in place of \(once) to \(most)")
      }
    }
    for (line, count) in Dictionary(
      effects.map { (LaunchKey(launch: $0.launch, key: $0.key), 1) }, uniquingKeysWith: +)
    where count > undisturbed[line.key, default: 0] {
      problems.append("\(line.key) runs \(count) times in launch \(line.launch)")
    }
    return problems.sorted()
  }

  private struct LaunchKey: Hashable {
    let launch: Int
    let key: String
  }
}

extension String {
  /// The text as a part of an idempotency key.
  var escaped: String {
    replacing("%", with: "%25").replacing("/", with: "%2F").replacing("@", with: "%40")
  }
}

extension RunStore {
  /// All runs with their steps.
  var allRuns: [RunDetails] {
    get async throws {
      var details: [RunDetails] = []
      for summary in try await runs() {
        if let run = try await run(summary.id) { details.append(run) }
      }
      return details
    }
  }
}
