internal import SystemSupport

/// A text of a step that names files which it reads.
struct FlowInput {
  /// The key, for messages.
  let key: String
  let text: FlowTemplate
  /// Whether the text is no pattern.
  var isPath = false
  /// Whether it is relative to the folder of the step, and not to the folder of the flow file.
  var isInFolder = true
}

extension FlowStep {
  /// What its commands read.
  var readFiles: [FlowInput] {
    inputs.map { FlowInput(key: "input", text: $0) }
      + (standardInput.map { [FlowInput(key: "stdin", text: $0, isPath: true)] } ?? [])
  }

  /// The files that give its children.
  private var filesOfChildren: [FlowInput] {
    switch each {
    case .glob(let text): [FlowInput(key: "each", text: text)]
    case .rowsOfFile(let text):
      [FlowInput(key: "rows-of", text: text, isPath: true, isInFolder: false)]
    case nil, .list, .matrix, .linesOf, .rowsOf, .sameAs: []
    }
  }

  fileprivate var allInputs: [FlowInput] { readFiles + filesOfChildren }
}

extension [FlowStep] {
  /// Reports what steps read and steps that need not have ended write: files of `inputs`, `stdin`,
  /// patterns of `each`, and `rows-of`.
  ///
  /// - Parameters:
  ///   - folder: The folder of the flow file.
  ///   - order: The indices of the steps, each after its dependencies.
  func checkInputs(
    _ texts: [String: String], in folder: String, order: [Int], _ problems: inout FlowProblems
  ) {
    guard contains(where: { !$0.allInputs.isEmpty }) else { return }
    var outputs = FlowOutputIndex(self, texts, in: folder)
    var needs = FlowNeeds(self, order)
    for (index, step) in enumerated() {
      for input in step.allInputs {
        var makers = outputs.steps(making: input, of: step)
        makers.remove(index)
        if makers.isEmpty { continue }
        let missing = makers.sorted().filter { !needs.isNeeded($0, by: index) }
        guard let first = missing.first else { continue }
        problems.report(
          input.text.location,
          message(
            about: input, of: step, missing, texts,
            isCycle: needs.isNeeded(index, by: first)))
      }
    }
  }

  private func message(
    about input: FlowInput, of step: FlowStep, _ makers: [Int], _ texts: [String: String],
    isCycle: Bool
  ) -> String {
    let maker = self[makers[0]]
    let path = input.text.text(texts)
    let isOutput = maker.outputs.contains { $0.text(texts).hasSameBytes(as: path) }
    let isPattern = !input.isPath && input.text.isPattern
    let verb = isOutput ? "is" : isPattern ? "matches" : "is or contains"
    let text =
      "\(input.key) \(path.quoted) of step \(step.name.quoted) \(verb) an output of step "
      + maker.name.quoted
    if isCycle { return "\(text), which needs it; a step cannot read what a later one writes" }
    let others = makers.count > 1 ? " and of \((makers.count - 1).grouped) more" : ""
    let names = makers.prefix(10).map { self[$0].name } + (makers.count > 10 ? ["…"] : [])
    return "\(text)\(others); add needs: [\(names.joined(separator: ", "))]"
  }
}

/// Which steps need which others, directly or not.
private struct FlowNeeds {
  private let needs: [[Int]]
  /// The position of each step in an order in which it follows those that it needs.
  private var positions: [Int]
  /// The last search that has visited a step.
  private var visits: [Int32]
  private var search: Int32 = 0
  /// It limits the time that a hostile file takes.
  private var steps = 20_000_000

  init(_ steps: [FlowStep], _ order: [Int]) {
    let indices = steps.indicesByName
    needs = steps.map { $0.neededNames.compactMap { indices[$0] } }
    positions = Array(repeating: 0, count: steps.count)
    for (position, index) in order.enumerated() { positions[index] = position }
    visits = Array(repeating: 0, count: steps.count)
  }

  mutating func isNeeded(_ target: Int, by start: Int) -> Bool {
    if needs[start].contains(target) { return true }
    search += 1
    var pending = [start]
    while let next = pending.popLast() {
      for index in needs[next] where visits[index] != search {
        if index == target { return true }
        visits[index] = search
        steps -= 1
        // Steps before the target do not need it.
        if positions[index] > positions[target], steps > 0 { pending.append(index) }
      }
    }
    return steps <= 0
  }
}
