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
          // A link can be the output, or lead to it.
          let ranges = paths.inputs(output.pattern, in: output.directory).map { FlowPathRange($0) }
          if included.contains(step.name) { writes += ranges } else { reads += ranges }
        }
      }
    }
  }

  /// Returns a file that one of two runs writes and the other one uses; nil if there is none.
  ///
  /// Of patterns, only the texts before the first and after the last special character are compared: no
  /// step may make the file.
  func conflict(with other: FlowRunFiles) -> String? {
    let range =
      FlowPathRange.common(writes, other.writes + other.reads)
      ?? FlowPathRange.common(reads, other.writes)
    return range.map { "\($0.begin)\($0.end.map { "*\($0)" } ?? "")" }
  }
}

/// A file with all files below it, or all files with the same beginning and end of their paths.
struct FlowPathRange: Codable, Hashable, Sendable {
  /// The absolute path of the file, or its beginning.
  let begin: String
  /// The end of the path of a pattern; nil for a path.
  let end: String?
  /// The number of slashes of a path that the pattern matches; nil if it matches any number, or for a path.
  let depth: Int?

  init(_ path: FlowPath) {
    let folder = path.folder.text
    let rest = path.rest
    if rest.isEmpty {
      begin = path.name.text.isEmpty ? folder : "\(folder)/\(path.name.text)"
      (end, depth) = (nil, nil)
      return
    }
    let last = rest.lastIndex { !$0.isCharacter } ?? rest.endIndex
    begin = "\(folder)/" + (Array(rest.prefix { $0.isCharacter }).literal ?? "")
    end = Array(rest[last...].dropFirst()).literal ?? ""
    depth =
      rest.contains(where: \.matchesSlashes)
      ? nil : "\(folder)/".utf8.count { $0 == slash } + rest.count { $0 == .character("/") }
  }

  /// Returns a range that has files or folders in common with another one; nil if there is none.
  static func common(_ ranges: [FlowPathRange], _ others: [FlowPathRange]) -> FlowPathRange? {
    if ranges.isEmpty || others.isEmpty { return nil }
    let sorted = others.sorted { $0.begin.utf8.lexicographicallyPrecedes($1.begin.utf8) }
    let byBegin = Dictionary(grouping: others) { ExactText($0.begin) }
    return ranges.first { range in
      let begin = range.begin.utf8
      // The beginning of one must be the beginning of the other.
      for end in begin.indices {
        let shorter = byBegin[ExactText(String(range.begin[..<end]))]
        if shorter?.contains(where: { $0.overlaps(range) }) == true { return true }
      }
      let first = sorted.partitioningIndex { !$0.begin.utf8.lexicographicallyPrecedes(begin) }
      return sorted[first...].prefix { $0.begin.utf8.starts(with: begin) }
        .contains { $0.overlaps(range) }
    }
  }

  /// Whether the ranges can have a file or a folder in common.
  ///
  /// - Precondition: The beginning of one is the beginning of the other.
  private func overlaps(_ other: FlowPathRange) -> Bool {
    switch (end, other.end) {
    case (nil, nil): return contains(other.begin) || other.contains(begin)
    case (_?, nil): return matches(other.begin)
    case (nil, _?): return other.matches(begin)
    case (let end?, let otherEnd?):
      // With other numbers of slashes, a file of one can be below a folder of the other.
      if depth == nil || depth != other.depth { return true }
      return end.hasEnd(otherEnd) || otherEnd.hasEnd(end)
    }
  }

  /// Whether a path is this one, or below it.
  private func contains(_ path: String) -> Bool {
    let rest = path.utf8.dropFirst(begin.utf8.count)
    return path.utf8.starts(with: begin.utf8) && (rest.isEmpty || rest.first == slash)
  }

  /// Whether the pattern can match a path or a folder of it, or a file below it.
  private func matches(_ path: String) -> Bool {
    if begin.utf8.starts(with: "\(path)/".utf8) { return true }
    guard path.utf8.starts(with: begin.utf8) else { return false }
    let ends = path.utf8.indices.filter { path.utf8[$0] == slash } + [path.endIndex]
    return ends.contains { index in
      let folder = path[..<index]
      return folder.utf8.count >= begin.utf8.count && folder.hasEnd(end ?? "")
    }
  }
}

private let slash = UInt8(ascii: "/")

extension GlobElement {
  fileprivate var isCharacter: Bool { if case .character = self { true } else { false } }

  /// Whether it can match a text with slashes.
  fileprivate var matchesSlashes: Bool {
    switch self {
    case .folders, .unknown: true
    case .character, .any, .set, .text: false
    }
  }
}

extension StringProtocol {
  fileprivate func hasEnd(_ end: String) -> Bool {
    utf8.reversed().starts(with: end.utf8.reversed())
  }
}

extension [FlowPathRange] {
  /// Returns the first index of an element that meets a condition, which all elements after it meet, too.
  fileprivate func partitioningIndex(_ condition: (FlowPathRange) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
