import SystemSupport

/// The last lines of a log, as a page shows them.
struct FlowLogEnd {
  private static let mostLines = 20
  private static let mostBytes = 4_096

  /// The lines without the sequences that control a terminal. Other control characters are left.
  let text: String
  /// The number of bytes of the whole log.
  let size: Int
  /// Whether the log has more than the text.
  let isPartial: Bool

  /// Reads the last bytes of a file.
  init(of file: FileDescriptor, size: Int) throws(SystemError) {
    let start = max(0, size - Self.mostBytes)
    var bytes = [UInt8](repeating: 0, count: size - start)
    var span = bytes.mutableSpan
    let count = try unsafe span.withUnsafeMutableBytes { buffer throws(SystemError) in
      try unsafe file.read(into: buffer, at: start)
    }
    self.init(bytes[..<count], size: size)
  }

  /// - Parameters:
  ///   - bytes: The last bytes of a log.
  ///   - size: The number of bytes of the whole log.
  init(_ bytes: ArraySlice<UInt8>, size: Int) {
    var bytes = bytes.suffix(Self.mostBytes)
    let isCut = bytes.count < size
    if isCut {
      // The rest of a character.
      bytes = bytes.dropFirst(bytes.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count)
    }
    var lines = String(decoding: bytes, as: UTF8.self).unicodeScalars.split(
      separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    if isCut, lines.count > 1 { lines.removeFirst() }
    isPartial = isCut || lines.count > Self.mostLines
    text = lines.suffix(Self.mostLines).map { Self.shown($0) }.joined(separator: "\n")
    self.size = size
  }

  /// The line as a terminal shows it: what follows the last carriage return, without the sequences
  /// that begin with an escape character.
  static func shown(_ line: Substring.UnicodeScalarView) -> String {
    var rest = line[...]
    while rest.last == "\r" { rest.removeLast() }
    if let last = rest.lastIndex(of: "\r") { rest = rest[rest.index(after: last)...] }
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\u{1B}": rest = afterSequence(rest)
      case "\u{9B}": rest = afterParameters(rest)
      default: text.append(scalar)
      }
    }
    return String(text)
  }

  /// Returns what follows the escape sequence that begins with the next characters.
  private static func afterSequence(
    _ rest: Substring.UnicodeScalarView
  ) -> Substring.UnicodeScalarView {
    guard let kind = rest.first else { return rest }
    let body = rest.dropFirst()
    switch kind {
    case "[": return afterParameters(body)
    case "]", "P", "X", "^", "_":
      // A text, such as the title of the window. Without an end in this line, it is shown.
      guard let end = body.firstIndex(where: { $0 == "\u{7}" || $0 == "\u{1B}" }) else {
        return body
      }
      let tail = body[body.index(after: end)...]
      return body[end] == "\u{1B}" && tail.first == "\\" ? tail.dropFirst() : tail
    case " "..."/": return body.drop { (" "..."/").contains($0) }.dropFirst()
    case "0"..."~": return body
    default: return rest
    }
  }

  /// Returns what follows the parameters of a control sequence and its last character.
  private static func afterParameters(
    _ rest: Substring.UnicodeScalarView
  ) -> Substring.UnicodeScalarView {
    let tail = rest.drop { (" "..."?").contains($0) }
    return tail.first.map { ("@"..."~").contains($0) } == true ? tail.dropFirst() : tail
  }
}
