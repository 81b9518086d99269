import CompositeOperations
import Foundation
import HTTPOperations
import HTTPOperationsTestKit
import LoopbackServer
import Testing

/// Events of servers, with the examples of the WHATWG's specification.
@Suite struct ServerSentEventTests {
  private static let texts: [(text: String, events: [String])] = [
    ("data: YHOO\ndata: +2\ndata: 10\n\n", ["message|YHOO\n+2\n10|"]),
    (
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
      ["message|first event|1", "message|second event|"]
    ),
    ("data\n\ndata\ndata\n\ndata:", ["message||", "message|\n|"]),
    ("data:test\n\ndata: test\n\n", ["message|test|", "message|test|"]),
    ("\u{FEFF}event: add\r\ndata: 1\r\n\r\n", ["add|1|"]),
    ("event: add\rdata: é\r\rdata: b\r\n\n", ["add|é|", "message|b|"]),
    (
      "id: a\0b\nid: 7\ndata: x\nother: y\n\nevent: z\n\ndata: w\n\n",
      ["message|x|7", "message|w|7"]
    ),
  ]

  @Test(arguments: texts.indices)
  func `events are parsed as specified, wherever the bytes are split`(index: Int) async throws {
    let (text, events) = Self.texts[index]
    let bytes = Array(text.utf8)
    for end in 0...bytes.count {
      let parts = [Array(bytes[..<end]), Array(bytes[end...])].filter { !$0.isEmpty }
      #expect(try await shown(parts) == events, "split at \(end)")
    }
    #expect(try await shown(bytes.map { [$0] }) == events)
  }

  // The server sends the next part when the event has been received.
  @Test(arguments: ["\r", "\n", "\r\n"])
  func `N8: an event is delivered as soon as the line after it has ended`(
    end: String
  ) async throws {
    let received = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      for text in ["one", "two", "three"] {
        connection.send("data: \(text)\(end)\(end)")
        received.wait()
      }
    }
    let events = try await HTTPStreamOperation(server.url()) { response in
      var events: [String] = []
      for try await event in response.events {
        events.append(event.data)
        received.signal()
      }
      return events
    }.run().get()
    #expect(events == ["one", "two", "three"])
  }

  @Test func `the delay until another request is kept`() async throws {
    let events = try await events([Array("retry: 1500\ndata: a\n\nretry: x\ndata: b\n\n".utf8)])
    #expect(events.map(\.retryDelay) == [.milliseconds(1_500), .milliseconds(1_500)])
  }

  @Test(arguments: ["x", "data: x\n"])
  func `an endless event is an error`(part: String) async throws {
    let server = FakeHTTPServer { _ in
      .init(body: Array(repeating: Array(part.utf8), count: 1_000))
    }
    let url = try #require(URL(string: "http://server/"))
    let options = HTTPRequestOptions(bodyLimit: 100)
    let outcome = await HTTPStreamOperation(url, options: options, session: server.session) {
      for try await _ in $0.events {}
    }.run()
    #expect(outcome.error is HTTPBodyLimitError)
  }

  private func shown(_ parts: [[UInt8]]) async throws -> [String] {
    try await events(parts).map { "\($0.type)|\($0.data)|\($0.id)" }
  }

  private func events(_ parts: [[UInt8]]) async throws -> [ServerSentEvent] {
    let server = FakeHTTPServer { _ in .init(body: parts) }
    let url = try #require(URL(string: "http://server/"))
    return try await HTTPStreamOperation(url, session: server.session) { response in
      var events: [ServerSentEvent] = []
      for try await event in response.events { events.append(event) }
      return events
    }.run().get()
  }
}
