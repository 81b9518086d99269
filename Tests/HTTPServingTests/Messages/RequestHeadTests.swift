import HTTPServing
import Testing

@Suite(.timeLimit(.minutes(10))) struct RequestHeadTests {
  @Test(
    arguments: [
      ("/", "/"), ("/a%20b", "/a b"), ("/%C3%A4", "/ä"), ("/a%2Fb", "/a/b"), ("/%252e", "/%2e"),
      ("/a+b", "/a+b"), ("/%F0%9F%98%80", "/😀"), ("/...", "/..."), ("/a;b=c", "/a;b=c"),
      ("/..", nil), ("/a/%2e.", nil), ("/%", nil), ("/%2", nil), ("/%2g", nil), ("/%00", nil),
      ("/%c0%af", nil), ("/%ff", nil), ("/%1f", nil), ("a", nil), ("", nil), ("/ä", nil),
      ("http://a/", nil),
    ] as [(String, String?)])
  func `A2: a path is decoded once, or refused`(text: String, path: String?) {
    #expect((try? RequestTarget(text.utf8))?.path == path)
  }

  @Test func `A2: a query has its items in their order`() throws {
    let target = try RequestTarget("/?b=1&a=%26+%2B&b=&c&=d&&e=f=g?h".utf8)
    #expect(target.query.map(\.name) == ["b", "a", "b", "c", "", "e"])
    #expect(target.query.map(\.value) == ["1", "& +", "", "", "d", "f=g?h"])
    #expect(throws: RequestRefusal.self) { try RequestTarget("/?a=%".utf8) }
  }

  @Test(
    arguments: [
      ([], 0), ([("Content-Length", "5")], 0), ([("transfer-encoding", "Chunked")], 0),
      ([("Content-Length", "5"), ("content-length", "5")], 400),
      ([("Content-Length", "5"), ("Transfer-Encoding", "chunked")], 400),
      ([("Content-Length", "-5")], 400), ([("Content-Length", "5 ")], 400),
      ([("Content-Length", "")], 400), ([("Content-Length", "٣")], 400),
      ([("Transfer-Encoding", "gzip")], 501), ([("Transfer-Encoding", "chunked ")], 501),
      ([("Bad Name", "x")], 400),
    ] as [([(String, String)], Int)])
  func `A2: the length of a body has one meaning`(fields: [(String, String)], status: Int) {
    let headers = RequestHeaders(fields.map { (name: $0.0, value: $0.1) })
    do throws(RequestRefusal) {
      let head = try RequestHead(
        method: "POST", target: "/".utf8, version: "HTTP/1.1", headers: headers)
      #expect(status == 0)
      #expect(head.bodySize == headers["CONTENT-LENGTH"].flatMap { Int($0) })
    } catch {
      #expect(error.status == status)
    }
  }

  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1:8080", true), ("[::1]:0", "[::1]:0", true),
    ("localhost:1", "127.0.0.1:1", true), ("[0:0::1]:65535", "[::1]:65535", true),
    ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]:80", "[::]:80", false),
    ("192.0.2.1:80", "192.0.2.1:80", false),
  ])
  func `an address has its standard form`(text: String, form: String, isLoopback: Bool) throws {
    let address = try ServerAddress(text)
    #expect("\(address)" == form)
    #expect(address.isLoopback == isLoopback)
  }

  @Test(arguments: [
    "", ":", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
    "127.0.0.1:+1", "127.0.0.1:1 ", "::1:80", "[::1]", "[::1:80", "runs.example:80", "127.1:80",
    "127.0.0.1.:80", "[127.0.0.1]:80", "127.0.0.1\0:80", "[::1%lo]:80",
  ])
  func `an invalid address is an error with advice`(text: String) {
    #expect(throws: HTTPServingError.invalidAddress(text)) { try ServerAddress(text) }
    #expect("\(HTTPServingError.invalidAddress(text))".contains("use an IP address and a port"))
  }
}
