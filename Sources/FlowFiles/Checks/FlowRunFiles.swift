import SystemSupport

/// The files of a run that another run must not write at the same time.
struct FlowRunFiles: Codable, Sendable {
  /// The outputs of its steps.
  var writes: [FlowPathRange] = []
  /// The outputs of steps that are not part of the run, and that its steps need.
  var reads: [FlowPathRange] = []

  init() {}

  /// - Parameter folder: The folder of the flow file.
  init(_ file: FlowFile, _ included: Set<String>, in folder: String) {
    var eachValues = FlowEachValues(file.steps, file.texts)
    var paths = FlowPaths(in: folder)
    let needed = file.closure(of: Array(included))
    for step in file.steps where needed.contains(step.name) {
      for output in step.outputs {
        for output in eachValues.files(output, of: step) {
          let range = FlowPathRange(paths.output(output.pattern, in: output.directory))
          if included.contains(step.name) { writes.append(range) } else { reads.append(range) }
        }
      }
    }
  }

  /// Returns a file that one of two runs writes and the other one uses; nil if there is none.
  ///
  /// Patterns are compared by their beginnings and ends: a file may be returned that no step makes.
  func conflict(with other: FlowRunFiles) -> String? {
    Self.common(writes, other.writes) ?? Self.common(writes, other.reads)
      ?? Self.common(reads, other.writes)
  }

  private static func common(_ ranges: [FlowPathRange], _ others: [FlowPathRange]) -> String? {
    if ranges.isEmpty || others.isEmpty { return nil }
    let paths = Set(others.lazy.filter { $0.end == nil }.map { ExactText($0.begin) })
    let folders = Set(paths.flatMap(\.text.folders).map { ExactText($0) })
    let patterns = others.filter { $0.end != nil }
    for range in ranges {
      if range.end != nil {
        if others.contains(where: { $0.overlaps(range) }) { return range.text }
      } else if paths.contains(ExactText(range.begin)) || folders.contains(ExactText(range.begin))
        || range.begin.folders.contains(where: { paths.contains(ExactText($0)) })
        || patterns.contains(where: { $0.overlaps(range) })
      {
        return range.text
      }
    }
    return nil
  }
}

/// A file with all files below it, or all files with the same beginning and end of their paths.
struct FlowPathRange: Codable, Hashable, Sendable {
  /// The absolute path of the file, or its beginning.
  let begin: String
  /// The end of the path of a pattern; nil for a path.
  let end: String?

  init(_ path: FlowPath) {
    let folder = path.folder.text
    guard !path.rest.isEmpty else {
      begin = path.name.text.isEmpty ? folder : "\(folder)/\(path.name.text)"
      end = nil
      return
    }
    begin = "\(folder)/" + Self.literal(path.rest.prefix { $0.isCharacter })
    end = Self.literal(path.rest.suffix(while: \.isCharacter))
  }

  private static func literal(_ elements: ArraySlice<GlobElement>) -> String {
    Array(elements).literal ?? ""
  }

  /// The path, or a pattern for people.
  fileprivate var text: String { end.map { "\(begin)*\($0)" } ?? begin }

  /// Whether a file or a folder of a path can be in both. One of the two is a pattern.
  fileprivate func overlaps(_ other: FlowPathRange) -> Bool {
    switch (end, other.end) {
    case (nil, nil): false
    case (let end?, nil): Self.contains(begin, end, other.begin)
    case (nil, let end?): Self.contains(other.begin, end, begin)
    case (let end?, let otherEnd?):
      (begin.utf8.starts(with: other.begin.utf8) || other.begin.utf8.starts(with: begin.utf8))
        && (end.hasEnd(otherEnd) || otherEnd.hasEnd(end))
    }
  }

  /// Whether a pattern can match a path or a folder of it, or a file below it.
  private static func contains(_ begin: String, _ end: String, _ path: String) -> Bool {
    if begin.utf8.starts(with: "\(path)/".utf8) { return true }
    return ([path] + path.folders).contains { $0.utf8.starts(with: begin.utf8) && $0.hasEnd(end) }
  }
}

extension GlobElement {
  fileprivate var isCharacter: Bool { if case .character = self { true } else { false } }
}

extension [GlobElement] {
  fileprivate func suffix(while predicate: (GlobElement) -> Bool) -> ArraySlice<GlobElement> {
    suffix(from: lastIndex { !predicate($0) }.map { $0 + 1 } ?? startIndex)
  }
}

extension String {
  /// The paths of the folders above an absolute path, without the root.
  fileprivate var folders: [String] {
    utf8.indices.dropFirst().filter { utf8[$0] == UInt8(ascii: "/") }.map { String(self[..<$0]) }
  }

  fileprivate func hasEnd(_ end: String) -> Bool {
    utf8.reversed().starts(with: end.utf8.reversed())
  }
}
