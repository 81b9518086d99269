import SystemSupport

/// The part of the log of a failed step that probably has the cause: from the first line that looks like an error.
struct FlowLogError {
  private static let mostLines = 20
  private static let mostBytes = 4_096
  /// The bytes at the end of the log that are searched.
  private static let searchedBytes = 256 << 10

  /// The lines without the sequences that control a terminal.
  let text: String

  /// Reads the end of a log; nil if no line of the last attempt looks like an error.
  init?(of file: FileDescriptor, size: Int) throws(SystemError) {
    let start = max(0, size - Self.searchedBytes)
    var bytes = [UInt8](repeating: 0, count: size - start)
    var span = bytes.mutableSpan
    let count = try unsafe span.withUnsafeMutableBytes { buffer throws(SystemError) in
      try unsafe file.read(into: buffer, at: start)
    }
    self.init(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// - Parameter log: The end of a log.
  init?(_ log: String) {
    let lines = log.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    let attempt = lines.lastIndex(where: Self.beginsAttempt).map { $0 + 1 } ?? 0
    let shown = lines[attempt...].lazy.map { FlowLogEnd.shown($0) }
    guard let first = shown.firstIndex(where: Self.looksLikeError) else { return nil }
    var (text, count) = ("", 0)
    for line in shown[first...] where count < Self.mostLines {
      if text.utf8.count + line.utf8.count > Self.mostBytes, count > 0 { break }
      if count > 0 { text += "\n" }
      text.append(contentsOf: line.prefix(Self.mostBytes))
      count += 1
    }
    self.text = text
  }

  /// Whether the engine has written a line before an attempt, with its label, the time and the command. Tests of Go
  /// begin lines with the same characters.
  private static func beginsAttempt(_ line: Substring.UnicodeScalarView) -> Bool {
    line.starts(with: "=== ".unicodeScalars)
      && Substring(line).prefixMatch(of: #/=== [^,]+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: /#) != nil
  }

  private static func looksLikeError(_ line: String) -> Bool {
    // Bytes, because a search in characters takes longer for logs of many lines.
    let bytes = line.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    return bytes.indices.contains { start in
      signs.contains { bytes[start...].starts(with: $0) }
    }
  }

  /// Signs of errors in the logs of compilers, databases, shells, Python, Java, Go, Rust and Swift.
  private static let signs = [
    "error", "exception", "traceback", "panic", "fatal", "failed", "failure", "cannot ",
    "could not",
    "permission denied", "refused", "not found", "no such file", "out of memory", "killed",
    "timed out",
  ].map { Array($0.utf8) }
}
