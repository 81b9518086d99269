import SystemSupport

/// The names, sizes and modification times of files, as a text that is compared as a whole.
struct FileFingerprint: Hashable, Sendable {
  /// A line for each file, sorted: the size in bytes, the time in nanoseconds, and the path. A file
  /// that is missing has a minus sign.
  let text: String

  init(text: String) { self.text = text }

  /// - Parameters:
  ///   - patterns: The paths and patterns.
  ///   - folder: The folder of relative paths.
  init(of patterns: [GlobPattern], in folder: String) {
    // Most steps have one input and one output.
    if patterns.count == 1, let path = patterns[0].path {
      text = Self.line(path, folder)
      return
    }
    var lines: [(path: String, line: String)] = []
    for pattern in patterns {
      if let path = pattern.path {
        lines.append((path, Self.line(path, folder)))
      } else {
        for path in pattern.files(in: folder) { lines.append((path, Self.line(path, folder))) }
      }
    }
    if lines.count > 1 {
      lines.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
    text = lines.map(\.line).joined(separator: "\n")
  }

  private static func line(_ path: String, _ folder: String) -> String {
    let full = path.utf8.first == UInt8(ascii: "/") ? path : folder.path(of: path)
    let name = path.utf8.contains(UInt8(ascii: "\n")) ? path.replacing("\n", with: "\\n") : path
    guard let status = try? FileStatus(ofFile: full) else { return "- - \(name)" }
    let time = status.modified.seconds * 1_000_000_000 + status.modified.nanoseconds
    return "\(status.size) \(time) \(name)"
  }

  /// The first missing file; nil if there is none.
  var missing: String? {
    var rest = text.utf8[...]
    while true {
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      if rest.starts(with: "- - ".utf8) {
        return String(Substring(rest[..<(end ?? rest.endIndex)].dropFirst(4)))
      }
      guard let end else { return nil }
      rest = rest[rest.index(after: end)...]
    }
  }

  /// Returns the first difference from an earlier fingerprint; nil if there is none.
  func difference(from earlier: FileFingerprint) -> FileDifference? {
    if text == earlier.text { return nil }
    let before = earlier.files
    for (path, state) in files.sorted(by: { $0.key < $1.key }) {
      guard let old = before[path] else { return .added(path) }
      if old == state { continue }
      if state.hasPrefix("-") { return .missing(path) }
      let times = [old, state].map { Int64($0.split(separator: " ").last ?? "") ?? 0 }
      return times[1] > times[0] ? .newer(path) : .changed(path)
    }
    let now = files
    return before.keys.sorted().first { now[$0] == nil }.map { .removed($0) }
  }

  private var files: [String: String] {
    var files: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 2)
      guard parts.count == 3 else { continue }
      files[String(parts[2])] = "\(parts[0]) \(parts[1])"
    }
    return files
  }
}

/// How a set of files differs from an earlier state of it.
enum FileDifference: Hashable, Sendable, CustomStringConvertible {
  case newer(String)
  case changed(String)
  case added(String)
  case removed(String)
  case missing(String)

  var description: String {
    switch self {
    case .newer(let path): "\(path.onOneLine) is newer"
    case .changed(let path): "\(path.onOneLine) has changed"
    case .added(let path): "\(path.onOneLine) is new"
    case .removed(let path): "\(path.onOneLine) was removed"
    case .missing(let path): "\(path.onOneLine) is missing"
    }
  }
}
