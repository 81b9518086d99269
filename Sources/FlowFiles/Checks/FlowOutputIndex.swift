internal import SystemSupport

/// The outputs of steps, as a tree of names.
struct FlowOutputIndex {
  private struct Node {
    var children: [ExactText: Int32] = [:]
    /// The step whose output has this path.
    var step: Int32?
    /// The rests of patterns whose other names lead here.
    var patterns: [(rest: [GlobElement], step: Int32)] = []
  }

  /// What the names of a folder find.
  private struct Visit {
    /// Nil if no output is below the folder.
    var node: Int?
    /// The steps with an output that is the folder or one above it.
    var steps: Set<Int> = []
    /// The nodes with patterns, and how many names precede them.
    var patterns: [(node: Int, count: Int)] = []
  }

  /// The most names of a folder that is compared.
  private static let mostNames = 1_000

  private var nodes = [Node()]
  /// The nodes of the folders of outputs, and what the folders of inputs find.
  private var folders: [ExactText: Int] = [:]
  private var visits: [ExactText: Visit] = [:]
  /// The results for patterns and folders, which steps often share.
  private var known: [FlowPath: Set<Int>] = [:]
  /// How much may still be compared with patterns. It limits the time that a hostile file takes.
  private var comparisons = 1_000_000
  /// Whether the answers may lack steps.
  var isExhausted: Bool { comparisons < 0 }
  private var eachValues: FlowEachValues
  private var paths: FlowPaths
  /// Whether a step makes all that it can make: the unknown value of a child can be any text, and an
  /// output can be a link to the folder of its files.
  private let isLenient: Bool

  /// - Parameter folder: The folder of the flow file.
  init(
    _ steps: [FlowStep], _ texts: [String: String], in folder: String, isLenient: Bool = false
  ) {
    eachValues = FlowEachValues(steps, texts)
    paths = FlowPaths(in: folder)
    self.isLenient = isLenient
    for (index, step) in steps.enumerated() {
      for output in step.outputs {
        for output in eachValues.files(output, of: step) {
          add(paths.output(output.pattern, in: output.directory), Int32(index))
          if !isLenient { continue }
          for path in paths.inputs(output.pattern, in: output.directory) { add(path, Int32(index)) }
          // The value can be an absolute path.
          if case .unknown? = output.pattern.names.first?.first {
            let names = output.pattern.names.joined(separator: [.character("/")])
            add(FlowPath("", Array(names)), Int32(index))
          }
        }
      }
    }
  }

  /// Returns the steps with an output that can be a file of an input.
  mutating func steps(making input: FlowInput, of step: FlowStep) -> Set<Int> {
    eachValues.files(input.text, of: step, isPath: input.isPath, isInFolder: input.isInFolder)
      .reduce(into: []) { $0.formUnion(steps(making: $1.pattern, in: $1.directory)) }
  }

  mutating func steps(making pattern: GlobPattern, in directory: String?) -> Set<Int> {
    paths.inputs(pattern, in: directory).reduce(into: []) { $0.formUnion(steps(making: $1)) }
  }

  private mutating func steps(making path: FlowPath) -> Set<Int> {
    if !path.rest.isEmpty, let steps = known[path] { return steps }
    let visit = visit(path.folder)
    var found = visit.steps
    for (node, count) in visit.patterns {
      addPatterns(of: node, matching: path, after: count, &found)
    }
    guard var node = visit.node else { return found }
    if !path.name.text.isEmpty {
      guard let child = nodes[node].children[path.name] else { return found }
      node = Int(child)
      // Also an output that is a folder with the file.
      if let step = nodes[node].step { found.insert(Int(step)) }
    }
    if path.rest.isEmpty, nodes[node].children.isEmpty, nodes[node].patterns.isEmpty {
      return found
    }
    if path.rest.isEmpty, let steps = known[path] { return steps }
    addOutputs(below: node, [], matching: path.rest, &found)
    known[path] = found
    return found
  }

  private mutating func visit(_ folder: ExactText) -> Visit {
    if let visit = visits[folder] { return visit }
    let names = folder.pathNames
    if names.count > Self.mostNames { return Visit() }
    var visit = Visit(node: 0)
    for (index, name) in names.enumerated() {
      guard let node = visit.node else { break }
      if !nodes[node].patterns.isEmpty { visit.patterns.append((node, index)) }
      visit.node = nodes[node].children[name].map { Int($0) }
      if let step = visit.node.flatMap({ nodes[$0].step }) { visit.steps.insert(Int(step)) }
    }
    if let node = visit.node, !nodes[node].patterns.isEmpty {
      visit.patterns.append((node, names.count))
    }
    visits[folder] = visit
    return visit
  }

  private mutating func addPatterns(
    of node: Int, matching path: FlowPath, after count: Int, _ found: inout Set<Int>
  ) {
    if nodes[node].patterns.isEmpty || comparisons < 0 { return }
    let elements = path.elements(after: count)
    for (rest, step) in nodes[node].patterns where !found.contains(Int(step)) {
      if matches(rest, elements, isLenient) { found.insert(Int(step)) }
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
      // A folder that the pattern matches means all files below it.
      let isMatch = pattern.isEmpty || matches(pattern, path)
      if isMatch, let step = nodes[Int(child)].step { found.insert(Int(step)) }
      addOutputs(
        below: Int(child), path + [.character("/")], matching: isMatch ? [] : pattern, &found)
    }
  }

  private mutating func matches(
    _ pattern: [GlobElement], _ text: [GlobElement], _ anyUnknown: Bool = false
  ) -> Bool {
    comparisons -= 1
    // The pattern can also match a folder of the path.
    if comparisons < 0 || !text.contains(.character("/")) && pattern.differsAtEnd(from: text) {
      return false
    }
    comparisons -= 16 + (pattern.count * text.count) >> 4
    return comparisons >= 0 && pattern.matches(text, anyUnknown: anyUnknown)
  }

  private mutating func add(_ path: FlowPath, _ step: Int32) {
    guard var node = node(of: path.folder) else { return }
    if !path.name.text.isEmpty { node = child(path.name, of: node) }
    if !path.rest.isEmpty {
      nodes[node].patterns.append((path.rest, step))
    } else if nodes[node].step == nil {
      nodes[node].step = step
    }
  }

  private mutating func node(of folder: ExactText) -> Int? {
    if let node = folders[folder] { return node }
    let names = folder.pathNames
    if names.count > Self.mostNames { return nil }
    let node = names.reduce(0) { child($1, of: $0) }
    folders[folder] = node
    return node
  }

  private mutating func child(_ name: ExactText, of node: Int) -> Int {
    if let child = nodes[node].children[name] { return Int(child) }
    nodes[node].children[name] = Int32(nodes.count)
    nodes.append(Node())
    return nodes.count - 1
  }
}
