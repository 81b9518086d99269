import SystemSupport

/// The names, sizes, modification times and inodes of files, as a text that is compared as a whole.
///
/// A path of a folder means all files below it, also hidden ones, and not the folder itself.
struct FileFingerprint: Hashable, Sendable {
  /// A line for each file, sorted: the size in bytes, the time in nanoseconds, the inode and the path.
  /// A file that is missing has minus signs.
  ///
  /// It is ASCII: other bytes of a path, and backslashes, are a backslash and two hexadecimal digits.
  /// Strings that are not ASCII would be equal if they are the same characters.
  let text: String

  init(text: String) { self.text = text }

  /// - Parameters:
  ///   - patterns: The paths and patterns.
  ///   - folder: The folder of relative paths.
  /// - Throws: A ``FlowFailure`` that names a file or a folder that cannot be read, or a name that is
  ///   not UTF-8.
  init(of patterns: [GlobPattern], in folder: String) throws {
    let tree = FileTree(folder)
    var files: [(path: [UInt8], status: FileStatus?)] = []
    for pattern in patterns {
      guard let path = pattern.path.map({ Array($0.utf8) }) else {
        for path in try pattern.files(in: folder).map({ Array($0.utf8) }) {
          if tree.isFolder(path) {
            if pattern.isRecursive { continue }
            files += try tree.files(below: path).map { ($0, tree.foundStatus(of: $0)) }
          } else {
            files.append((path, tree.foundStatus(of: path)))
          }
        }
        continue
      }
      let status = try tree.status(of: path)
      if status?.kind == .folder {
        files += try tree.files(below: path).map { ($0, tree.foundStatus(of: $0)) }
      } else {
        files.append((path, status))
      }
    }
    // Most steps have one input and one output.
    if files.count > 1 { files.sort { $0.path.lexicographicallyPrecedes($1.path) } }
    var text: [UInt8] = []
    var last: [UInt8]?
    for (path, status) in files where path != last {
      if last != nil { text.append(.lineFeed) }
      text.append(status)
      for byte in path { text.appendEscaped(byte) }
      last = path
    }
    self.text = String(decoding: text, as: UTF8.self)
  }

  /// The first missing file; nil if there is none.
  var missing: String? {
    text.utf8.split(separator: .lineFeed).first { $0.starts(with: Self.missingState.utf8) }
      .map { Array($0.dropFirst(Self.missingState.utf8.count + 1)).unescaped.pathText }
  }

  fileprivate static let missingState = "- - -"

  /// Returns the first difference from an earlier fingerprint; nil if there is none.
  func difference(from earlier: FileFingerprint) -> FileDifference? {
    if text == earlier.text { return nil }
    let before = Dictionary(earlier.files.map { ($0.path, $0.state) }, uniquingKeysWith: { $1 })
    let now = files
    for (path, state) in now {
      let old = before[path]
      if old == state { continue }
      if state.starts(with: Self.missingState) { return .missing(path.pathText) }
      guard let old, !old.starts(with: Self.missingState) else { return .added(path.pathText) }
      let times = [old, state].map { Int64($0.split(separator: " ")[1]) ?? 0 }
      return times[1] > times[0] ? .newer(path.pathText) : .changed(path.pathText)
    }
    let paths = Set(now.map(\.path))
    let removed = earlier.files.first { !paths.contains($0.path) }?.path
    return removed.map { .removed($0.pathText) } ?? .changed("a file")
  }

  /// The files in the order of their paths, each with its size, time and inode.
  private var files: [(path: [UInt8], state: Substring)] {
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 3)
      guard parts.count == 4 else { return nil }
      return (Array(parts[3].utf8).unescaped, line[..<parts[2].endIndex])
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ status: FileStatus?) {
    guard let status else {
      self += FileFingerprint.missingState.utf8
      append(.space)
      return
    }
    let time = status.modified
    appendNumber(Int64(status.size))
    append(.space)
    appendNumber(time.seconds &* 1_000_000_000 &+ time.nanoseconds)
    append(.space)
    appendNumber(Int64(bitPattern: status.identity.number))
    append(.space)
  }

  fileprivate mutating func appendEscaped(_ byte: UInt8) {
    if (0x20..<0x7F).contains(byte), byte != .backslash { return append(byte) }
    let digits = Array("0123456789abcdef".utf8)
    self += [.backslash, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  fileprivate var unescaped: [UInt8] {
    var bytes: [UInt8] = []
    var rest = self[...]
    while let byte = rest.popFirst() {
      guard byte == .backslash else {
        bytes.append(byte)
        continue
      }
      bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? byte)
      rest = rest.dropFirst(2)
    }
    return bytes
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
