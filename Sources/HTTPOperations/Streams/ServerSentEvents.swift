/// An event of a server that sends events (`text/event-stream`).
public struct ServerSentEvent: Sendable, Hashable {
  /// The type of the event; `message` if the server gave none.
  public let type: String
  /// The data, whose lines are separated by line feeds.
  public let data: String
  /// The last identifier that the server sent, for the header `Last-Event-ID` of another request.
  /// Empty if there is none.
  public let id: String
  /// The delay that the server wants before another request; nil if it sent none so far.
  public let retryDelay: Duration?
}

extension HTTPStream {
  /// The events of the server, as the WHATWG specifies server-sent events.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let done = HTTPStreamOperation(url) { response in
  ///   for try await event in response.events where event.type == "done" { return event.data }
  ///   return "closed"
  /// }
  /// ```
  ///
  /// An event that is not complete at the end of the body is dropped. One that is larger than the
  /// `bodyLimit` of the options is an ``HTTPBodyLimitError``.
  public var events: ServerSentEvents { ServerSentEvents(stream: self) }
}

/// The events of a server.
public struct ServerSentEvents: AsyncSequence {
  let stream: HTTPStream

  /// The events as they arrive; nil at the end of the body.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let stream: HTTPStream
    var parser = ServerSentEventParser()

    /// - Throws: ``HTTPTransferError`` if the body is not complete, ``HTTPBodyLimitError`` if an
    ///   event is too large, and `CancellationError` if the run is cancelled.
    public nonisolated(nonsending) mutating func next() async throws -> ServerSentEvent? {
      while true {
        if let event = parser.next() { return event }
        if parser.pendingByteCount > stream.limit {
          throw HTTPBodyLimitError(request: stream.request, limit: stream.limit, announced: nil)
        }
        guard let bytes = try await stream.reader.next() else { return nil }
        parser.add(bytes)
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream) }
}

/// Parses the format of server-sent events.
struct ServerSentEventParser {
  private var bytes: [UInt8] = []
  /// Where the next line begins, and how far no end of it has been found.
  private var (lineStart, searched) = (0, 0)
  private var isAtStart = true
  /// Whether the last line ends with a carriage return, so that a line feed belongs to its end.
  private var endsWithReturn = false
  private var type = ""
  private var data: String?
  private var id = ""
  private var retryDelay: Duration?

  /// The bytes of the event that is not complete.
  var pendingByteCount: Int { bytes.count - lineStart + (data?.utf8.count ?? 0) }

  mutating func add(_ bytes: [UInt8]) {
    self.bytes.removeFirst(lineStart)
    (lineStart, searched) = (0, searched - lineStart)
    self.bytes += bytes
  }

  /// - Returns: Nil if more bytes are needed.
  mutating func next() -> ServerSentEvent? {
    while let line = nextLine() {
      if let event = parse(line) { return event }
    }
    return nil
  }

  private mutating func nextLine() -> String? {
    while searched < bytes.count {
      let byte = bytes[searched]
      searched += 1
      if exchange(&endsWithReturn, with: false), byte == 0x0A {
        lineStart = searched
        continue
      }
      guard byte == 0x0A || byte == 0x0D else { continue }
      // The line is not held back until the next byte, which the server may send much later.
      endsWithReturn = byte == 0x0D
      var line = bytes[lineStart..<searched - 1]
      lineStart = searched
      if exchange(&isAtStart, with: false), line.starts(with: [0xEF, 0xBB, 0xBF]) {
        line = line.dropFirst(3)
      }
      return String(decoding: line, as: UTF8.self)
    }
    return nil
  }

  private mutating func parse(_ line: String) -> ServerSentEvent? {
    if line.isEmpty { return endOfEvent() }
    let end = line.utf8.firstIndex(of: 0x3A) ?? line.endIndex
    var value = end == line.endIndex ? "" : line[line.utf8.index(after: end)...]
    if value.utf8.first == 0x20 { value = value.dropFirst() }
    switch line[..<end] {
    case "event": type = String(value)
    case "data" where data == nil: data = String(value)
    case "data":
      data?.append("\n")
      data?.append(contentsOf: value)
    case "id": if !value.utf8.contains(0) { id = String(value) }
    case "retry": retryDelay = HTTPHeaders.length(value).map { .milliseconds($0) } ?? retryDelay
    default: break
    }
    return nil
  }

  private mutating func endOfEvent() -> ServerSentEvent? {
    defer { (type, data) = ("", nil) }
    guard let data else { return nil }
    return ServerSentEvent(
      type: type.isEmpty ? "message" : type, data: data, id: id, retryDelay: retryDelay)
  }
}
