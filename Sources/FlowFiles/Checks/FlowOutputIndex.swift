/// A path or a pattern of a step as the checks compare it: relative to the folder of the flow file.
struct FlowPath: Hashable {
  /// The names before the first pattern, without `.` and `..`.
  private(set) var names: [ExactText] = []
  /// The rest of a pattern; empty for a path.
  private(set) var rest: [GlobElement] = []

  init(_ pattern: GlobPattern, in directory: String?) {
    if pattern.isAbsolute {
      names = ["/"]
    } else if let directory {
      if directory.utf8.first == UInt8(ascii: "/") { names = ["/"] }
      add(directory)
    }
    if let path = pattern.path { add(path) }
    for name in pattern.names {
      if rest.isEmpty, let literal = name.literal {
        add(literal)
      } else {
        if !rest.isEmpty, rest.last != .folders { rest.append(.character("/")) }
        rest += name
      }
    }
  }

  private mutating func add(_ path: String) {
    for name in path.pathNames where !name.elementsEqual(".".utf8) {
      if name.elementsEqual("..".utf8), let last = names.last, last != "..", last != "/" {
        names.removeLast()
      } else {
        names.append(ExactText(String(name) ?? ""))
      }
    }
  }

  /// The elements after some of the names.
  func elements(after count: Int) -> [GlobElement] {
    let texts = names[count...].map(\.elements)
    return Array(texts.joined(separator: [.character("/")]))
      + (rest.isEmpty || texts.isEmpty ? rest : [.character("/")] + rest)
  }
}

extension ExactText: ExpressibleByStringLiteral {
  init(stringLiteral text: String) { self.init(text) }

  fileprivate var elements: [GlobElement] { text.unicodeScalars.map { .character($0) } }
}

/// The outputs of steps, as a tree of names.
struct FlowOutputIndex {
  private struct Node {
    var children: [ExactText: Int32] = [:]
    /// The step whose output has this path.
    var step: Int32?
    /// The rests of patterns whose other names lead here.
    var patterns: [(rest: [GlobElement], step: Int32)] = []
  }

  private var nodes = [Node()]
  /// The results for patterns and folders, which steps often share.
  private var known: [FlowPath: Set<Int>] = [:]
  /// How much may still be compared with patterns. It limits the time that a hostile file takes.
  private var comparisons = 1_000_000
  /// Whether the answers may lack steps.
  var isExhausted: Bool { comparisons < 0 }
  private var eachValues: FlowEachValues
  private let texts: [String: String]

  init(_ steps: [FlowStep], _ texts: [String: String]) {
    eachValues = FlowEachValues(steps)
    self.texts = texts
    for (index, step) in steps.enumerated() {
      for output in step.outputs {
        for path in paths(output, of: step) { add(path, Int32(index)) }
      }
    }
  }

  /// Returns the steps with an output that can be a file of an input.
  ///
  /// - Parameter anyUnknown: Whether the unknown value of a child can be any text. Otherwise, it is
  ///   only equal to itself.
  mutating func steps(
    making input: FlowTemplate, of step: FlowStep, anyUnknown: Bool = false
  ) -> Set<Int> {
    paths(input, of: step).reduce(into: []) { $0.formUnion(steps(making: $1, anyUnknown)) }
  }

  mutating func steps(making path: FlowPath, _ anyUnknown: Bool) -> Set<Int> {
    if let steps = known[path] { return steps }
    var found: Set<Int> = []
    var node = 0
    for (index, name) in path.names.enumerated() {
      addPatterns(of: node, matching: path, after: index, anyUnknown, &found)
      guard let child = nodes[node].children[name] else { return found }
      node = Int(child)
      // Also an output that is a folder with the file.
      if let step = nodes[node].step { found.insert(Int(step)) }
    }
    if path.rest.isEmpty, nodes[node].children.isEmpty, nodes[node].patterns.isEmpty {
      return found
    }
    addPatterns(of: node, matching: path, after: path.names.count, anyUnknown, &found)
    addOutputs(below: node, [], matching: path.rest, &found)
    known[path] = found
    return found
  }

  private mutating func addPatterns(
    of node: Int, matching path: FlowPath, after count: Int, _ anyUnknown: Bool,
    _ found: inout Set<Int>
  ) {
    if nodes[node].patterns.isEmpty || comparisons < 0 { return }
    let elements = path.elements(after: count)
    for (rest, step) in nodes[node].patterns where !found.contains(Int(step)) {
      if matches(rest, elements, anyUnknown) { found.insert(Int(step)) }
    }
  }

  /// Adds the steps with outputs in a folder that a pattern matches; all of them for an empty pattern.
  private mutating func addOutputs(
    below node: Int, _ path: [GlobElement], matching pattern: [GlobElement],
    _ found: inout Set<Int>
  ) {
    if comparisons < 0 { return }
    for (rest, step) in nodes[node].patterns where !found.contains(Int(step)) {
      if pattern.isEmpty || matches(pattern, path + rest) { found.insert(Int(step)) }
    }
    for (name, child) in nodes[node].children where comparisons > 0 {
      let path = path + name.elements
      if let step = nodes[Int(child)].step, !found.contains(Int(step)),
        pattern.isEmpty || matches(pattern, path)
      {
        found.insert(Int(step))
      }
      addOutputs(below: Int(child), path + [.character("/")], matching: pattern, &found)
    }
  }

  private mutating func matches(
    _ pattern: [GlobElement], _ text: [GlobElement], _ anyUnknown: Bool = false
  ) -> Bool {
    comparisons -= 1
    if pattern.differsAtEnd(from: text) || comparisons < 0 { return false }
    comparisons -= 16 + (pattern.count * text.count) >> 4
    return comparisons >= 0 && pattern.matches(text, anyUnknown: anyUnknown)
  }

  private mutating func add(_ path: FlowPath, _ step: Int32) {
    var node = 0
    for name in path.names {
      if let child = nodes[node].children[name] {
        node = Int(child)
      } else {
        nodes[node].children[name] = Int32(nodes.count)
        node = nodes.count
        nodes.append(Node())
      }
    }
    if !path.rest.isEmpty {
      nodes[node].patterns.append((path.rest, step))
    } else if nodes[node].step == nil {
      nodes[node].step = step
    }
  }

  /// The longest path that is compared, in names. The system has a limit of 4,096 bytes.
  private static let mostNames = 1_000

  private mutating func paths(_ template: FlowTemplate, of step: FlowStep) -> [FlowPath] {
    let patterns: [GlobPattern]
    if template.usesEach {
      patterns = eachValues.patterns(template, of: step, texts)
    } else {
      patterns = GlobPattern.patterns(template, texts)
    }
    let directory = step.directory?.text(texts)
    return patterns.map { FlowPath($0, in: directory) }
      .filter { $0.names.count <= Self.mostNames }
  }
}

/// The values of the children of steps, as far as a file shows them.
struct FlowEachValues {
  private var sources: [String: FlowEach] = [:]
  /// Many paths of many children would take too long.
  private var count = 200_000

  init(_ steps: [FlowStep]) {
    for step in steps where step.each != nil { sources[step.name] = step.each }
  }

  /// Returns the patterns of a text that uses the value of a child.
  mutating func patterns(
    _ template: FlowTemplate, of step: FlowStep, _ texts: [String: String]
  ) -> [GlobPattern] {
    var name = step.name
    var steps: Set<String> = []
    // A chain of references can have a cycle, which is another problem.
    while case .sameAs(let source)? = sources[name], steps.insert(name).inserted {
      name = source.name
    }
    switch sources[name] {
    case .glob(let pattern)?:
      let each = pattern.characters(texts) { _ in [] }
      return GlobPattern.patterns(template, texts) { _ in each }
    case let each:
      if let number = each?.knownCount, count >= number, let values = each?.knownValues(texts) {
        count -= number
        return values.flatMap { GlobPattern.patterns(template, texts, each: $0) }
      }
      return GlobPattern.patterns(template, texts) { part in
        if case .column(let column) = part {
          [.unknown("\(name).\(column)")]
        } else {
          [.unknown(name)]
        }
      }
    }
  }
}
