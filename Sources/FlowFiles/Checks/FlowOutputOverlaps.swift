internal import SystemSupport

/// Pairs of outputs of different steps, of which at least one is a pattern, that can be the same file.
struct FlowOutputOverlaps {
  /// An output of a step, or of a child of it.
  struct Output {
    let step: Int
    let text: FlowTemplate
    let each: String?
    fileprivate let path: FlowPath
    /// The path, or the beginning of it before the first special character.
    fileprivate let begin: String

    fileprivate init(_ step: Int, _ text: FlowTemplate, _ each: String?, _ path: FlowPath) {
      (self.step, self.text, self.each, self.path) = (step, text, each, path)
      begin = FlowPathRange(path).begin
    }
  }

  /// Two steps, in the order of the file.
  struct Pair: Hashable {
    let first: Int
    let second: Int

    init(_ one: Int, _ other: Int) { (first, second) = (min(one, other), max(one, other)) }
  }

  /// The pairs that have a file in common whatever the values of the children are.
  private(set) var certain: [(Output, Output)] = []
  /// The pairs for which only the files themselves can decide.
  private(set) var undecided: Set<Pair> = []
  /// How much may still be compared. It limits the time that a hostile file takes; the rest is not compared.
  private var comparisons = 4_000_000

  /// - Parameter folder: The folder of the flow file.
  init(_ steps: [FlowStep], _ texts: [String: String], in folder: String) {
    var eachValues = FlowEachValues(steps, texts)
    var paths = FlowPaths(in: folder)
    var outputs: [Output] = []
    for (index, step) in steps.enumerated() {
      for text in step.outputs where !text.source.isEmpty {
        for file in eachValues.files(text, of: step, replacesPatterns: false) {
          let path = paths.output(file.pattern, in: file.directory)
          outputs.append(Output(index, text, file.each, path))
        }
      }
    }
    guard outputs.contains(where: { !$0.path.rest.isEmpty }) else { return }
    compare(
      outputs.sorted { one, other in
        one.begin.hasSameBytes(as: other.begin)
          ? one.step < other.step : one.begin.utf8.lexicographicallyPrecedes(other.begin.utf8)
      })
  }

  /// - Parameter outputs: Sorted by their beginnings. Of two that can be the same file, one beginning is the beginning
  ///   of the other.
  private mutating func compare(_ outputs: [Output]) {
    // The ends of the parts with outputs of one step.
    var ends = Array(1...outputs.count)
    for index in outputs.indices.dropLast().reversed()
    where outputs[index].step == outputs[index + 1].step { ends[index] = ends[index + 1] }
    var reported: Set<Pair> = []
    for (index, output) in outputs.enumerated() {
      var next = ends[index]
      while next < outputs.count, comparisons > 0 {
        let other = outputs[next]
        // A path can only be the same as a pattern that begins with all of it.
        guard
          output.path.rest.isEmpty
            ? other.begin.hasSameBytes(as: output.begin)
            : other.begin.utf8.starts(with: output.begin.utf8)
        else { break }
        comparisons -= 1
        let isSame = other.step == output.step || other.path == output.path
        let isPattern = !output.path.rest.isEmpty || !other.path.rest.isEmpty
        let pair = Pair(output.step, other.step)
        if !isSame, isPattern, !reported.contains(pair) {
          switch output.path.rest.isEmpty
            ? overlaps(other.path, output.path) : overlaps(output.path, other.path)
          {
          case true?:
            reported.insert(pair)
            certain.append(output.step < other.step ? (output, other) : (other, output))
          case nil: undecided.insert(pair)
          case false?: break
          }
        }
        next = other.step == output.step ? ends[next] : next + 1
      }
    }
    undecided.subtract(reported)
  }

  /// Whether a pattern and another path can be the same file; nil if that is not known.
  private mutating func overlaps(_ pattern: FlowPath, _ other: FlowPath) -> Bool? {
    let size = other.rest.count + other.folder.text.utf8.count + other.name.text.utf8.count
    comparisons -= 16 + (pattern.rest.count * size) >> 4
    if comparisons < 0 { return nil }
    let depth = min(pattern.folder.depth, other.folder.depth)
    let (one, two) = (pattern.elements(after: depth), other.elements(after: depth))
    if !other.rest.isEmpty { return GlobIntersection.exists(one, two) }
    if one.matches(two) { return true }
    return one.matches(two, anyUnknown: true) ? nil : false
  }
}

extension ExactText {
  /// The number of names of the path.
  fileprivate var depth: Int { text.utf8.count { $0 == UInt8(ascii: "/") } }
}

extension [FlowStep] {
  /// Reports outputs of different steps that can be the same file.
  ///
  /// - Parameter folder: The folder of the flow file.
  func checkOverlaps(
    _ texts: [String: String], in folder: String, _ problems: inout FlowProblems
  ) {
    for (first, second) in FlowOutputOverlaps(self, texts, in: folder).certain {
      let (own, other) = (
        second.text.text(texts, each: second.each), first.text.text(texts, each: first.each)
      )
      problems.report(
        second.text.location,
        "output \(own.quoted) of step \(self[second.step].name.quoted) and output \(other.quoted) of step "
          + "\(self[first.step].name.quoted) can be the same file, so that each of them would change the output of the "
          + "other; give them different folders or names")
    }
  }
}

extension FlowChecker {
  /// Checks the outputs of different steps of which only the files show whether they overlap.
  ///
  /// - Parameter children: Returns the values of the children of a step, as far as they are known.
  /// - Throws: A ``FlowFailure`` that names a file which two steps have made.
  func checkOverlaps(children: (String) -> [String]?) throws {
    let pairs = FlowOutputOverlaps(file.steps, values, in: folder.path).undecided
    if pairs.isEmpty { return }
    var paths = FlowPaths(in: folder.path)
    var files: [Int: [ExactText: String]] = [:]
    for index in Set(pairs.flatMap { [$0.first, $0.second] }) {
      for unit in file.steps[index].units(children(file.steps[index].name)) {
        let working = folder.workingFolder(unit.directory(values))
        for file in try view.fingerprint(unit.outputs(values), working).existingFiles {
          let (parent, name) = (file.hasPrefix("/") ? file : "\(working)/\(file)").splitPath
          files[index, default: [:]][ExactText("\(paths.followingLinks(parent))/\(name)")] =
            unit.name
        }
      }
    }
    for pair in pairs.sorted(by: { ($0.first, $0.second) < ($1.first, $1.second) }) {
      let others = files[pair.second] ?? [:]
      let common = (files[pair.first] ?? [:]).filter { others[$0.key] != nil }
        .min { $0.key < $1.key }
      guard let common else { continue }
      throw FlowFailure.other(
        "\(common.key.text.onOneLine) is an output of '\(common.value.onOneLine)' and of "
          + "'\((others[common.key] ?? "").onOneLine)', so that each of them changes the output of the other; give them "
          + "different folders or names")
    }
  }
}
