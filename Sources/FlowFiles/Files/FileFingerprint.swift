import SystemSupport

/// The names, sizes, modification times and inodes of files, as a text. With `compare: content`, a
/// stored fingerprint also has the hashes of their contents.
///
/// A path of a folder means all files below it, also hidden ones, and not the folder itself.
package struct FileFingerprint: Hashable, Sendable {
  /// A line for each file, sorted: the size in bytes, the time in nanoseconds, the inode and the path.
  /// A colon and the hash can follow the inode. A file that is missing has minus signs.
  ///
  /// It is ASCII: other bytes of a path, and backslashes, are a backslash and two hexadecimal digits.
  /// Strings that are not ASCII would be equal if they are the same characters.
  package let text: String

  package init(text: String) { self.text = text }

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

  /// The paths of the files that exist and are UTF-8.
  var existingFiles: [String] {
    files.lazy.filter { !$0.isMissing }.compactMap { String(validating: $0.bytes, as: UTF8.self) }
  }

  fileprivate static let missingState = "- - -"

  /// Returns the first difference from an earlier fingerprint; nil if there is none.
  ///
  /// - Parameter hash: Returns the hash of the contents of a file with another stamp than before, if
  ///   the contents decide.
  func difference(from earlier: FileFingerprint, by hash: Hashing? = nil) throws -> FileDifference?
  {
    if text == earlier.text { return nil }
    let before = earlier.filesByPath
    let now = files
    for file in now {
      let old = before[file.path]
      if old?.stamp == file.stamp { continue }
      if file.isMissing { return .missing(file.pathText) }
      guard let old, !old.isMissing else { return .added(file.pathText) }
      if let hash, let known = old.hash, old.field(0) == file.field(0) {
        let own = try file.hash.map(String.init) ?? hash(file.bytes, String(file.stamp))
        if own == String(known) { continue }
      }
      // The inode is another one.
      if hash == nil, old.field(0) == file.field(0), old.field(1) == file.field(1) {
        return .replaced(file.pathText)
      }
      return file.time > old.time ? .newer(file.pathText) : .changed(file.pathText)
    }
    let paths = Set(now.map(\.path))
    return earlier.files.first { !paths.contains($0.path) }.map { .removed($0.pathText) }
  }

  /// Returns the fingerprint with the hashes of the contents. A file with the same stamp as in an
  /// earlier fingerprint has the hash that it has there.
  func hashed(after earlier: FileFingerprint?, by hash: Hashing) throws -> FileFingerprint {
    let before = earlier?.filesByPath ?? [:]
    let lines = try files.map { file in
      let old = before[file.path]
      let known =
        old?.stamp == file.stamp && old?.hash != nil
        ? old?.hash.map(String.init)
        : file.isMissing ? nil : try hash(file.bytes, String(file.stamp))
      return "\(file.stamp)\(known.map { ":\($0)" } ?? "") \(file.path)"
    }
    return FileFingerprint(text: lines.joined(separator: "\n"))
  }

  /// Returns the fingerprint without the hashes of files that have another stamp later. Their contents may
  /// have been others in between.
  func withoutHashes(ofFilesChangedIn later: FileFingerprint) -> FileFingerprint {
    if text == later.text { return self }
    let now = later.filesByPath
    let lines = files.map { file in
      let keeps = file.hash != nil && now[file.path]?.stamp == file.stamp
      return "\(file.stamp)\(keeps ? file.hash.map { ":\($0)" } ?? "" : "") \(file.path)"
    }
    return FileFingerprint(text: lines.joined(separator: "\n"))
  }

  /// Returns the hash of a file with a path and a stamp; nil if it is unknown.
  typealias Hashing = (_ path: [UInt8], _ stamp: String) throws -> String?

  /// The files in the order of their paths.
  private var files: [File] { text.split(separator: "\n").map { File($0) } }

  private var filesByPath: [Substring: File] {
    Dictionary(files.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
  }

  /// A line.
  private struct File {
    /// As in the text.
    let path: Substring
    /// The size, time and inode. It is empty in a line that this version does not know.
    let stamp: Substring
    let hash: Substring?

    init(_ line: Substring) {
      let parts = line.split(separator: " ", maxSplits: 3)
      guard parts.count == 4 else {
        (path, stamp, hash) = (line, "", nil)
        return
      }
      let inode = parts[2].split(separator: ":", maxSplits: 1)
      path = parts[3]
      stamp = line[..<(inode.first ?? parts[2]).endIndex]
      hash = inode.count > 1 ? inode[1] : nil
    }

    var bytes: [UInt8] { Array(path.utf8).unescaped }
    var pathText: String { bytes.pathText }
    var isMissing: Bool { stamp == FileFingerprint.missingState }
    var time: Int64 { field(1).flatMap { Int64($0) } ?? 0 }

    func field(_ index: Int) -> Substring? {
      stamp.split(separator: " ").dropFirst(index).first
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ status: FileStatus?) {
    if let status { appendStamp(status) } else { self += FileFingerprint.missingState.utf8 }
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
package enum FileDifference: Hashable, Sendable, CustomStringConvertible {
  case newer(String)
  case changed(String)
  /// It has the size and the time of the earlier one.
  case replaced(String)
  case added(String)
  case removed(String)
  case missing(String)

  package var description: String {
    switch self {
    case .newer(let path): "\(path.onOneLine) is newer"
    case .changed(let path): "\(path.onOneLine) has changed"
    case .replaced(let path):
      "\(path.onOneLine) is another file with the same size and time, such as a copy"
    case .added(let path): "\(path.onOneLine) is new"
    case .removed(let path): "\(path.onOneLine) was removed"
    case .missing(let path): "\(path.onOneLine) is missing"
    }
  }
}
