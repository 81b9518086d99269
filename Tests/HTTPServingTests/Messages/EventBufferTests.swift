import HTTPServing
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventBufferTests {
  private func append(_ event: EventMessage, to buffer: inout EventBuffer) -> Bool {
    buffer.append(event)
  }

  private func read(_ buffer: inout EventBuffer, _ count: Int = 4_096) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let size = unsafe bytes.withUnsafeMutableBytes { unsafe buffer.read(into: $0) }
    return String(decoding: bytes.prefix(size), as: UTF8.self)
  }

  @Test(arguments: [
    (EventMessage(data: "a"), "data: a\n\n"), (EventMessage("n", data: ""), "event: n\ndata: \n\n"),
    (EventMessage(data: "a\nb\r\nc\rd"), "data: a\ndata: b\ndata: c\ndata: d\n\n"),
    (
      EventMessage("n\ndata: x\r\n\r\nevent: y", data: "a\n\nid: 1"),
      "event: n\ndata: a\ndata: \ndata: id: 1\n\n"
    ),
    (EventMessage("n\r\nx", data: "\n"), "event: n\ndata: \ndata: \n\n"),
  ])
  func `A4: an event cannot inject another one`(event: EventMessage, text: String) {
    var buffer = EventBuffer(limit: 1_000)
    #expect(append(event, to: &buffer))
    #expect(read(&buffer) == text)
    #expect(buffer.count == 0)
  }

  @Test func `A4: an event replaces an unsent one with the same name`() {
    var buffer = EventBuffer(limit: 1_000)
    for (name, data) in [("a", "1"), ("b", "1"), ("a", "2"), ("a", "3")] {
      #expect(append(EventMessage(name, data: data), to: &buffer))
    }
    #expect(read(&buffer) == "event: b\ndata: 1\n\nevent: a\ndata: 3\n\n")
  }

  @Test func `A4: an event that is partly sent is sent completely`() {
    var buffer = EventBuffer(limit: 1_000)
    #expect(append(EventMessage("a", data: "1"), to: &buffer))
    var text = read(&buffer, 5)
    #expect(append(EventMessage("a", data: "2"), to: &buffer))
    while buffer.count > 0 { text += read(&buffer, 3) }
    #expect(text == "event: a\ndata: 1\n\nevent: a\ndata: 2\n\n")
  }

  @Test func `A4: the size of unsent events is limited`() {
    var buffer = EventBuffer(limit: 40)
    for number in 0..<1_000 { #expect(append(EventMessage("a", data: "\(number)"), to: &buffer)) }
    #expect(append(EventMessage("b", data: "1"), to: &buffer))
    #expect(!append(EventMessage("c", data: "1"), to: &buffer))
    #expect(append(EventMessage("b", data: "2"), to: &buffer))
    #expect(buffer.count <= 40)
    #expect(read(&buffer) == "event: a\ndata: 999\n\nevent: b\ndata: 2\n\n")
    #expect(append(EventMessage("c", data: "1"), to: &buffer))
  }

  @Test func `A4: a heartbeat is sent only if nothing else waits`() {
    var buffer = EventBuffer(limit: 40)
    buffer.appendHeartbeat()
    buffer.appendHeartbeat()
    #expect(read(&buffer) == ":\n\n")
    #expect(append(EventMessage(data: "1"), to: &buffer))
    buffer.appendHeartbeat()
    #expect(read(&buffer) == "data: 1\n\n")
  }
}
