import Foundation
import Testing

/// What the surroundings of a test run ask for.
enum ModelSettings {
  /// How long to go on with new seeds.
  static let soak = Duration.seconds(
    ProcessInfo.processInfo.environment["COMPOSITE_SOAK_SECONDS"].flatMap(Int.init) ?? 0)

  /// The trial that is to be seen again, by its workers and its seed: `one-17`.
  static let caseToReproduce: ModelCase? = {
    let parts = ProcessInfo.processInfo.environment["COMPOSITE_MODEL_SEED"]?.split(separator: "-")
    guard let parts, parts.count == 2, let seed = UInt64(parts[1]) else { return nil }
    return ModelCase.Workers(rawValue: String(parts[0])).map { ModelCase(seed: seed, workers: $0) }
  }()

  /// How many trees to try of so many: a sanitizer is slow.
  static func scaled(_ trees: Int) -> Int {
    #if SANITIZER
      trees / 10
    #else
      trees
    #endif
  }
}

/// Trials of seeds that follow on one another.
struct Batch: Sendable, CustomTestStringConvertible {
  let workers: ModelCase.Workers
  let seeds: Range<UInt64>

  static func all(of workers: ModelCase.Workers, trees: Int) -> [Batch] {
    let trees = UInt64(ModelSettings.scaled(trees))
    return stride(from: 0, to: trees, by: 1_000).map { first in
      Batch(workers: workers, seeds: first..<min(first + 1_000, trees))
    }
  }

  var testDescription: String { "\(workers), seeds \(seeds)" }

  /// Runs the trials, and tells of the first one that breaks a rule.
  func run() async {
    var broken: Set<String> = []
    for seed in seeds {
      let report = await ModelCase(seed: seed, workers: workers).report()
      if let rule = report.rule, broken.insert(rule).inserted { await report.record() }
    }
  }
}

extension ModelReport {
  /// The rule that was broken first; nil if none was.
  var rule: String? {
    findings.first.map { String($0.drop { $0 != ":" }.filter { !$0.isNumber }.prefix(50)) }
  }

  /// Tells what went wrong, by the smallest tree that shows it.
  func record() async {
    Issue.record(
      "\(await smallest())\nfound with seed \(modelCase.seed): \(modelCase.reproductionCommand)")
  }
}
