/// The events of a stream that are not sent yet, in bounded memory.
///
/// An event replaces an unsent one with the same name, because only the newest state counts. The
/// event that is being sent is not replaced.
package struct EventBuffer: Sendable {
  private var current: ArraySlice<UInt8> = []
  private var waiting: [(name: String, bytes: [UInt8])] = []
  private var waitingSize = 0
  private let limit: Int

  /// - Parameter limit: The maximum number of bytes that wait.
  package init(limit: Int) { self.limit = limit }

  /// The number of bytes that are not sent yet.
  package var count: Int { current.count + waitingSize }

  /// Adds an event.
  ///
  /// - Returns: False if the buffer is full; the event is then not added.
  package mutating func append(_ event: EventMessage) -> Bool {
    append(event.bytes, name: event.name)
  }

  /// Adds a comment, which clients ignore, if nothing else waits.
  package mutating func appendHeartbeat() {
    if count == 0 { _ = append(Array(":\n\n".utf8), name: "") }
  }

  private mutating func append(_ bytes: [UInt8], name: String) -> Bool {
    let index = waiting.firstIndex { $0.name == name }
    let size = waitingSize - (index.map { waiting[$0].bytes.count } ?? 0) + bytes.count
    guard size <= limit else { return false }
    waitingSize = size
    // Events are sent in the order of their newest states.
    if let index { waiting.remove(at: index) }
    waiting.append((name, bytes))
    return true
  }

  /// Removes bytes from the beginning and stores them.
  ///
  /// - Returns: The number of bytes.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var total = 0
    while total < buffer.count {
      if current.isEmpty {
        guard !waiting.isEmpty else { break }
        current = waiting.removeFirst().bytes[...]
        waitingSize -= current.count
      }
      let part = current.prefix(buffer.count - total)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[total...]).copyBytes(from: part)
      current = current.dropFirst(part.count)
      total += part.count
    }
    return total
  }
}
