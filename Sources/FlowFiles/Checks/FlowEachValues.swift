internal import SystemSupport

/// The files that a text of a step names, as far as a file shows the values of the children.
struct FlowEachValues {
  /// A path or a pattern, and the folder of a relative one.
  struct File {
    let pattern: GlobPattern
    let directory: String?
    /// The value of the child; nil if it is unknown.
    var each: String?
  }

  private var sources: [String: FlowEach] = [:]
  private let texts: [String: String]
  /// Many paths of many children would take too long.
  private var count = 200_000

  init(_ steps: [FlowStep], _ texts: [String: String]) {
    for step in steps where step.each != nil { sources[step.name] = step.each }
    self.texts = texts
  }

  /// Returns the files of a text.
  ///
  /// - Parameters:
  ///   - isPath: Whether the text is no pattern.
  ///   - isInFolder: Whether the text is relative to the folder of the step.
  ///   - replacesPatterns: Whether the pattern of `each` replaces the value of the child.
  mutating func files(
    _ text: FlowTemplate, of step: FlowStep, isPath: Bool = false, isInFolder: Bool = true,
    replacesPatterns: Bool = true
  ) -> [File] {
    let folder = isInFolder ? step.directory : nil
    guard text.usesEach || folder?.usesEach == true else {
      let directory = folder?.text(texts)
      return GlobPattern.patterns(text, texts, isPath: isPath)
        .map { File(pattern: $0, directory: directory) }
    }
    var name = step.name
    var steps: Set<String> = []
    // A chain of references can have a cycle, which is another problem.
    while case .sameAs(let source)? = sources[name], steps.insert(name).inserted {
      name = source.name
    }
    let source = sources[name]
    if let number = source?.knownCount, count >= number, let values = source?.knownValues(texts) {
      count -= number
      return values.flatMap { each in
        let directory = folder?.text(texts, each: each)
        return GlobPattern.patterns(text, texts, each: each, isPath: isPath)
          .map { File(pattern: $0, directory: directory, each: each) }
      }
    }
    var pattern: [GlobCharacter]?
    if replacesPatterns, case .glob(let text)? = source {
      pattern = text.characters(texts) { _ in [] }
    }
    return GlobPattern.patterns(text, texts, in: folder, isPath: isPath) { part in
      if let pattern { return pattern }
      if case .column(let column) = part { return [.unknown("\(name).\(column)")] }
      return [.unknown(name)]
    }.map { File(pattern: $0, directory: nil) }
  }
}
