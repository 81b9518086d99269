import HTTPServing
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPHeaderTests {
  @Test(arguments: [
    "a\r\nSet-Cookie: b", "a\nb", "a\rb", "a\0b", "\u{1B}", "\u{7F}", "ä", "\u{85}", "\u{2028}",
  ])
  func `A5: a value cannot inject another field`(value: String) {
    #expect(throws: HTTPHeaderError.invalidValue(name: "Name")) { try HTTPHeader("Name", value) }
  }

  @Test(arguments: ["", "a b", "a:", "a\r\nb", "a\0", "ä", "a(b)", "\"a\""])
  func `A5: a name is a token`(name: String) {
    #expect(throws: HTTPHeaderError.invalidName(name)) { try HTTPHeader(name, "") }
  }

  @Test(arguments: ["Content-Length", "transfer-encoding", "CONNECTION", "Content-Security-Policy"])
  func `A5: a handler cannot set the fields of the server`(name: String) {
    #expect(throws: HTTPHeaderError.reserved(name)) { try HTTPHeader(name, "0") }
  }

  @Test func `another field has its name and value`() throws {
    let header = try HTTPHeader("X-Name_1", "a\t b: c; d=\"e\"")
    #expect(header.name == "X-Name_1")
    #expect(header.value == "a\t b: c; d=\"e\"")
  }
}
