/// Parses the lines of the headers of a response, which libcurl delivers one by one: those of
/// informational responses, of the response, and of its trailer.
struct HeadParser {
  /// The first error in the headers.
  private(set) var error: HTTPTransportError?
  /// Whether the head of the response is complete.
  private(set) var isComplete = false
  /// Whether anything has been received.
  var hasBegun: Bool { byteCount > 0 }
  /// The length in the complete head of the response; nil if there is none.
  var length: Int? {
    isComplete ? headers.values(of: "Content-Length").first.flatMap { HTTPHeaders.length($0) } : nil
  }
  private var status = 0
  private var headers = HTTPHeaders()
  private var byteCount = 0
  private let limit: Int

  /// - Parameter limit: The maximum number of bytes.
  init(limit: Int) { self.limit = limit }

  /// - Returns: The head, if the line is the last one of it; nil otherwise, and if there is an
  ///   error.
  mutating func parse(_ line: UnsafeRawBufferPointer) -> (status: Int, headers: HTTPHeaders)? {
    byteCount += line.count
    if byteCount > limit {
      fail("its headers are larger than \(limit) bytes")
      return nil
    }
    // A trailer does not change the head.
    if isComplete { return nil }
    let text = unsafe Self.text(of: line)
    // Some programs take it for the end of a line (RFC 9112, section 2.2).
    if text.utf8.contains(0x0D) {
      fail("a header has a carriage return within")
      return nil
    }
    if text.isEmpty { return endOfHeaders() }
    if status == 0 {
      parseStatus(text)
    } else if let first = unsafe line.first, first == 0x20 || first == 0x09 {
      continueLast(with: Self.trimmed(text[...]))
    } else if let colon = text.firstIndex(of: ":") {
      let name = String(text[..<colon])
      if name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), !name.isEmpty {
        headers.append(name, Self.trimmed(text[text.index(after: colon)...]))
      } else {
        fail("the name of a header is not valid")
      }
    } else {
      fail("a header has no colon")
    }
    return nil
  }

  private mutating func continueLast(with text: String) {
    // libcurl reads every line by itself, and would find another end of the body.
    let framing = ["Content-Length", "Transfer-Encoding"]
    if let last = headers.fields.last, framing.contains(where: { last.isNamed($0) }) {
      return fail("its \(last.name) continues in another line")
    }
    headers.continueLast(with: text)
  }

  private mutating func parseStatus(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[1].utf8.count == 3,
      let status = HTTPHeaders.length(parts[1]), status >= 100
    else { return fail("its status line is not valid") }
    self.status = status
  }

  private mutating func endOfHeaders() -> (status: Int, headers: HTTPHeaders)? {
    if error != nil || status == 0 { return nil }
    if status == 101 {
      fail("it switches to a protocol that was not requested")
      return nil
    }
    // An informational response, such as 103 (Early Hints), precedes the final one.
    if status < 200 {
      (status, headers) = (0, HTTPHeaders())
      return nil
    }
    checkLength()
    isComplete = error == nil
    return isComplete ? (status, headers) : nil
  }

  /// Checks what determines the end of the body. A mistake there may be an attack on other
  /// responses of the connection (RFC 9112, section 6.3).
  private mutating func checkLength() {
    let codings = headers.values(of: "Transfer-Encoding")
    if !codings.allSatisfy({ ["chunked", "identity"].contains($0.lowercased()) })
      || codings.count > 1
    {
      return fail("its transfer coding was not requested")
    }
    var lengths = Set<Int?>()
    for value in headers.values(of: "Content-Length") {
      for item in value.split(separator: ",", omittingEmptySubsequences: false) {
        lengths.insert(HTTPHeaders.length(Self.trimmed(item)))
      }
    }
    if lengths.contains(nil) { return fail("its Content-Length is not a number of bytes") }
    if lengths.count > 1 { fail("it has two different lengths") }
  }

  private mutating func fail(_ message: String) {
    error = error ?? HTTPTransportError(.badAnswer, message)
  }

  /// The text of a line without its end, in UTF-8 or else in Latin-1, in which any bytes are text.
  private static func text(of line: UnsafeRawBufferPointer) -> String {
    var bytes = unsafe line[...]
    if unsafe bytes.last == 0x0A { unsafe bytes.removeLast() }
    if unsafe bytes.last == 0x0D { unsafe bytes.removeLast() }
    return unsafe String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func trimmed(_ text: Substring) -> String {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    guard let first = text.firstIndex(where: { !isSpace($0) }),
      let last = text.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(text[first...last])
  }
}
