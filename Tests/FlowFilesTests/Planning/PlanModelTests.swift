import FlowFiles
import Foundation
import TestSupport
import Testing

/// The planner beside a model of rule L6, on random graphs with random changes, without processes and
/// files. `COMPOSITE_TEST_DEPTH=full` tries 10,000 of them.
@Suite(.needsYAML, .timeLimit(.minutes(10)))
struct PlanModelTests {
  /// The parts of the graphs. Each is a test case, so that other tests run between them, and all
  /// processors are used.
  private static let parts = 20
  private static let count =
    (ProcessInfo.processInfo.environment["COMPOSITE_TEST_DEPTH"] == "full" ? 10_000 : 500) / parts

  @Test(arguments: 1...parts)
  func `L6: the planner decides as a model does for random graphs and changes`(part: Int) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(state: seed)
    var (settled, ran) = (0, 0)
    for number in 0..<Self.count {
      var world = FlowWorld(&random)
      for round in 0..<8 {
        if round > 0 { world.change(&random) }
        try world.run(&random) { step, decision, isCurrent, world in
          if decision.isSettled { settled += 1 } else { ran += 1 }
          #expect(
            decision.isSettled == isCurrent,
            "program \(number), round \(round), seed \(seed): '\(step)' is \(decision)\n\(world)")
        }
      }
    }
    // Both kinds of decisions have been tried.
    #expect(min(settled, ran) > Self.count)
  }
}

/// A flow file, its files and what its runs have stored; and beside it what a model knows.
private struct FlowWorld: CustomStringConvertible {
  private struct Step {
    var command = 0
    var needs: Set<Int> = []
    var inputs: Set<String> = []
    var hasOutputs = true
    var comparesContent = false
  }

  /// What a step has used when it succeeded, and what it made, in the words of the rule.
  private struct Success: Equatable {
    var definition: [String]
    var inputs: [String: File]
    var needs: [Int: Int]
    var output: File?
    var run: Int
    /// Changes with the output, or with each success of a step without outputs.
    var product: Int
  }

  private struct File: Equatable {
    var contents: Int
    var time: Int
  }

  private var steps: [Step]
  private var files: [String: File] = [:]
  private var runNumber = 1
  private var clock = 1_000
  private let folder = FlowFolder(ofFile: "/f/flow.yaml", flow: "f")
  /// The last text of the flow file, and its parse.
  private var read: (text: String, file: FlowFile)?
  // The side of the planner.
  private var records: [ExactText: FlowRecord] = [:]
  private var lastNumber: Int64 = 0
  // The side of the model.
  private var successes: [Int: Success] = [:]
  private var lastProduct = 0

  init(_ random: inout SplitMix) {
    steps = (0..<Int.random(in: 2...7, using: &random)).map { _ in Step() }
    for index in steps.indices {
      steps[index].hasOutputs = Int.random(in: 0..<5, using: &random) > 0
      steps[index].comparesContent = Int.random(in: 0..<3, using: &random) == 0
      changeNeeds(of: index, &random)
      for source in 0..<3 where Bool.random(using: &random) {
        steps[index].inputs.insert("source\(source)")
      }
    }
    for source in 0..<3 { write("source\(source)", 0) }
  }

  var description: String { "\(text)\n\(files)" }

  private mutating func changeNeeds(of index: Int, _ random: inout SplitMix) {
    steps[index].needs = Set((0..<index).filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
  }

  private mutating func write(_ name: String, _ contents: Int) {
    clock += 1
    files[name] = File(contents: contents, time: clock)
  }

  /// Changes something that a user or another program can change between two runs.
  mutating func change(_ random: inout SplitMix) {
    let index = Int.random(in: steps.indices, using: &random)
    let source = "source\(Int.random(in: 0..<3, using: &random))"
    switch Int.random(in: 0..<10, using: &random) {
    case 0: steps[index].command += 1
    case 1: changeNeeds(of: index, &random)
    case 2: write(source, Int.random(in: 0...9, using: &random))
    // Another time, and the same contents.
    case 3: write(source, files[source]?.contents ?? 0)
    // The clock goes back.
    case 4: files[source] = File(contents: 10, time: 1)
    case 5: files["out\(index)"] = nil
    case 6 where steps[index].hasOutputs: write("out\(index)", 11)
    case 7: steps[index].inputs.formSymmetricDifference([source])
    default: break
    }
    if Bool.random(using: &random) { runNumber += 1 }
  }

  // MARK: The model

  /// The definition, the inputs and the needed products as they are now; nil if a needed step is not
  /// current.
  private func used(by index: Int, _ current: Set<Int>) -> Success? {
    let step = steps[index]
    guard step.needs.isSubset(of: current) else { return nil }
    return Success(
      definition: ["\(step.command)"],
      inputs: Dictionary(
        uniqueKeysWithValues: paths(of: step).map { ($0, files[$0] ?? File(contents: -1, time: 0)) }
      ),
      needs: Dictionary(
        uniqueKeysWithValues: step.needs.map { ($0, successes[$0]?.product ?? 0) }),
      output: nil, run: runNumber, product: 0)
  }

  /// The files that a step reads: its sources, and the outputs of what it needs.
  private func paths(of step: Step) -> [String] {
    (step.inputs + step.needs.filter { steps[$0].hasOutputs }.map { "out\($0)" }).sorted()
  }

  private func isCurrent(_ index: Int, _ current: Set<Int>) -> Bool {
    let step = steps[index]
    guard let success = successes[index], let now = used(by: index, current) else { return false }
    func isSame(_ one: File?, _ other: File?) -> Bool {
      one == other || step.comparesContent && one != nil && one?.contents == other?.contents
    }
    return success.definition == now.definition && success.needs == now.needs
      && Set(success.inputs.keys) == Set(now.inputs.keys)
      && success.inputs.allSatisfy { isSame($1, now.inputs[$0]) }
      && (step.hasOutputs ? isSame(success.output, files["out\(index)"]) : success.run == runNumber)
  }

  // MARK: The planner

  private var text: String {
    let lines = steps.enumerated().map { index, step in
      let needs = step.needs.sorted().map { "s\($0)" }.joined(separator: ", ")
      let inputs = paths(of: step).joined(separator: ", ")
      return "  s\(index): {run: [c, '\(step.command)'], needs: [\(needs)], inputs: [\(inputs)]"
        + (step.hasOutputs ? ", outputs: [out\(index)]" : "")
        + (step.comparesContent ? ", compare: content}" : "}")
    }
    return (["flow: f", "steps:"] + lines).joined(separator: "\n")
  }

  private mutating func flowFile() throws -> FlowFile {
    let text = text
    if let read, read.text == text { return read.file }
    let file = try FlowFile(yaml: text)
    read = (text, file)
    return file
  }

  private func checker(_ file: FlowFile, _ definitions: [String: String]) -> FlowChecker {
    let view = FileView(
      fingerprint: { [files] patterns, _ in
        let names = patterns.compactMap(\.path).sorted()
        return FileFingerprint(
          text: names.map { name in
            // All files have one size.
            files[name].map { "1 \($0.time) 1 \(name)" } ?? "- - - \(name)"
          }.joined(separator: "\n"))
      }, files: { _, _, _ in [] },
      hash: { [files] path, _, _ in
        files[String(decoding: path, as: UTF8.self)].map { "h\($0.contents)" }
      })
    return FlowChecker(
      file: file, folder: folder, definitions: definitions, records: records, run: runNumber,
      runs: [], view: view)
  }

  /// Compares the decisions before a run and when each step begins, and runs the steps, some of which
  /// fail.
  mutating func run(
    _ random: inout SplitMix,
    check: (String, FlowDecision, _ isCurrent: Bool, _ world: FlowWorld) -> Void
  ) throws {
    let file = try flowFile()
    let definitions = file.definitions(environment: [:], hashingWith: "")
    let selection = try FlowSelection().resolved(in: file)
    let plan = try FlowPlan(checker(file, definitions), selection: selection)
    var current: Set<Int> = []
    for index in steps.indices {
      if isCurrent(index, current) { current.insert(index) }
      let decision = try #require(plan.decisions["s\(index)"])
      check("s\(index)", decision, current.contains(index), self)
    }
    var succeeded: Set<Int> = []
    for index in steps.indices {
      let step = steps[index]
      guard step.needs.isSubset(of: succeeded), let flowStep = file.step(named: "s\(index)") else {
        continue
      }
      let (checker, unit) = (checker(file, definitions), FlowUnit(step: flowStep, each: nil))
      let use = FlowUse(
        Dictionary(
          uniqueKeysWithValues: step.needs.map { need in
            ("s\(need)", FlowMade(number: records[ExactText("s\(need)")]?.made ?? 0))
          }))
      let decision = try checker.decision(for: unit, needs: use, predecessor: nil)
      let isNowCurrent = isCurrent(index, succeeded)
      check("s\(index) when it begins", decision, isNowCurrent, self)
      if isNowCurrent {
        succeeded.insert(index)
        continue
      }
      let missing = paths(of: step).contains { files[$0] == nil }
      if missing || Int.random(in: 0..<6, using: &random) == 0 { continue }
      try succeed(index, unit, use, succeeded, &random) { $0.checker(file, definitions) }
      succeeded.insert(index)
    }
  }

  /// Runs a step. Its output may stay as it is.
  private mutating func succeed(
    _ index: Int, _ unit: FlowUnit, _ use: FlowUse, _ succeeded: Set<Int>,
    _ random: inout SplitMix, _ checker: (FlowWorld) -> FlowChecker
  ) throws {
    let step = steps[index]
    let inputs = try checker(self).recordedInputs(of: unit).text
    let keeps = step.hasOutputs && files["out\(index)"] != nil && Bool.random(using: &random)
    if step.hasOutputs, !keeps { write("out\(index)", Int.random(in: 0...3, using: &random)) }
    let outputs = try checker(self).recordedOutputs(of: unit).text
    let earlier = records[unit.key]
    let before = successes[index]
    let file = files["out\(index)"]
    let isSame =
      step.hasOutputs && before?.output != nil
      && (before?.output == file
        || step.comparesContent && before?.output?.contents == file?.contents)
    lastNumber += 1
    records[unit.key] = FlowRecord(
      unit: unit.name, run: runNumber,
      definition: checker(self).definitions[unit.name] ?? "", inputs: inputs, outputs: outputs,
      lines: nil, used: use, number: lastNumber, made: isSame ? earlier?.made ?? 0 : lastNumber,
      ended: 0, duration: 0)
    guard var success = used(by: index, succeeded) else { return }
    if !isSame { lastProduct += 1 }
    success.product = isSame ? before?.product ?? 0 : lastProduct
    success.output = step.hasOutputs ? file : nil
    successes[index] = success
  }
}

extension FlowUnit {
  fileprivate var key: ExactText { ExactText(name) }
}
