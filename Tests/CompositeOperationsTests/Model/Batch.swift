import Foundation
import Testing

/// Settings of the model tests, from environment variables.
enum ModelSettings {
  /// How long the soak test runs new seeds; zero disables it.
  static let soak = Duration.seconds(
    ProcessInfo.processInfo.environment["COMPOSITE_SOAK_SECONDS"].flatMap(Int.init) ?? 0)

  /// The case to run again, by its workers and its seed, for example `one-17`.
  static let caseToReproduce: ModelCase? = {
    let parts = ProcessInfo.processInfo.environment["COMPOSITE_MODEL_SEED"]?.split(separator: "-")
    guard let parts, parts.count == 2, let seed = UInt64(parts[1]) else { return nil }
    return ModelCase.Workers(rawValue: String(parts[0])).map { ModelCase(seed: seed, workers: $0) }
  }()
}

/// Cases with consecutive seeds.
struct Batch: Sendable, CustomTestStringConvertible {
  let workers: ModelCase.Workers
  let seeds: Range<UInt64>

  static func all(of workers: ModelCase.Workers, trees: Int) -> [Batch] {
    let trees = UInt64(Scale.cases(trees))
    return stride(from: 0, to: trees, by: 1_000).map { first in
      Batch(workers: workers, seeds: first..<min(first + 1_000, trees))
    }
  }

  var testDescription: String { "\(workers), seeds \(seeds)" }

  /// Runs the cases, and records an issue for the first violation of each rule.
  func run() async {
    var broken: Set<String> = []
    for seed in seeds {
      let report = await ModelCase(seed: seed, workers: workers).report()
      if let rule = report.rule, broken.insert(rule).inserted { await report.record() }
    }
  }
}

extension ModelReport {
  /// The start of the first finding, without numbers, which identifies the rule; nil without
  /// findings.
  var rule: String? {
    findings.first.map { String($0.drop { $0 != ":" }.filter { !$0.isNumber }.prefix(50)) }
  }

  /// Records an issue with the smallest tree that violates the same rule.
  func record() async {
    Issue.record(
      "\(await smallest())\nfound with seed \(modelCase.seed): \(modelCase.reproductionCommand)")
  }
}
