import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct IssuesTests {
  @Test func `the issues on all pages of every repository are listed`() async throws {
    let server = try LoopbackServer { request, connection in
      let host = request["Host"] ?? ""
      switch request.path {
      case "/users/octocat/repos?type=owner&sort=full_name&per_page=100":
        let next =
          "<http://\(host)/more?page=2>; rel=\"next\", <http://\(host)/more?page=9>; rel=\"last\""
        connection.send(.init(Self.repositories("octocat/a"), headers: ["Link: \(next)"]))
      case "/more?page=2": connection.send(.init(Self.repositories("octocat/b", "octocat/c")))
      case "/repos/octocat/a/issues?state=open&per_page=100":
        connection.send(.init(Self.issues(1, 2), headers: ["Link: </more/a>; rel=\"next\""]))
      case "/more/a": connection.send(.init(Self.issues(3)))
      case "/repos/octocat/b/issues?state=open&per_page=100": connection.send(.init("[]"))
      default:
        let pull =
          #"{"number":9,"title":"t","html_url":"u","user":null,"pull_request":{"url":"u"}}"#
        connection.send(.init("[\(pull)]"))
      }
    }
    let printed = try await issues(of: "octocat", at: server)
    #expect(printed.status == 0, "\(printed.error)")
    #expect(
      printed.text == """
        octocat/a: 3 open issues
          #1 It fails \u{FFFD}[31m (alice)
          #2 It fails \u{FFFD}[31m (alice)
          #3 It fails \u{FFFD}[31m (alice)

        """)
    #expect(printed.error.contains("3 open issues in 3 repositories of octocat, "))
    #expect(server.requests.count == 6)
    #expect(server.requests.allSatisfy { $0["Authorization"] == nil })
  }

  @Test(arguments: [
    #"</next?labels=a,b&page=2>; rel="next""#, "</next;a=1>;rel=next",
    #"</other>; rel="last", </next>; title="a, b; c"; rel="prefetch next""#,
    #"</other>; title="\"<x>; rel=next", </next> ; REL = Next"#, ",, </next>;x;rel=\"next\",",
    #"</other>; rel="prev"; rel="next", </next>; rel="next""#,
  ])
  func `the next page is found in every form of the Link header`(link: String) async throws {
    let server = try LoopbackServer { request, connection in
      switch request.path {
      case let path where path.hasPrefix("/users/"):
        connection.send(.init(Self.repositories("octocat/a")))
      case let path where path.hasPrefix("/next"): connection.send(.init(Self.issues(2)))
      default:
        connection.send(.init(Self.issues(1), headers: ["Link: \(link)"]))
      }
    }
    let printed = try await issues(of: "octocat", at: server)
    #expect(printed.error.contains("2 open issues in 1 repository"), "\(printed.error)")
    #expect(server.requests.last?.path.hasPrefix("/next") == true)
  }

  @Test func `a repository that fails is reported with the results of the others`() async throws {
    let server = try LoopbackServer { request, connection in
      switch request.path.split(separator: "?").first {
      case "/users/octocat/repos":
        connection.send(.init(Self.repositories("octocat/a", "octocat/b", "octocat/c", "../x")))
      case "/repos/octocat/a/issues": connection.send(.init(Self.issues(1)))
      case "/repos/octocat/b/issues": connection.send(.init(410, #"{"message":"disabled"}"#))
      default: connection.send(.init("{}"))
      }
    }
    let printed = try await issues(of: "octocat", at: server)
    #expect(printed.status == 1)
    #expect(printed.text.hasPrefix("octocat/a: 1 open issue\n"))
    let lines = printed.error.split(separator: "\n").filter { $0.hasPrefix("failed: ") }
    #expect(lines.count == 3)
    #expect(lines[0].hasPrefix("failed: octocat/b: GET \(server.url("/repos/octocat/b/issues"))?"))
    #expect(lines[0].contains("failed with status 410 ("))
    #expect(lines[0].contains(#"): {"message":"disabled"}"#))
    #expect(lines[1].contains("octocat/c") && lines[1].contains("cannot decode Array"))
    #expect(lines[2].contains("invalid repository name ../x"))
    #expect(printed.error.contains("4 repositories of octocat, 3 failed"))
    let json = try await issues(of: "octocat", at: server, "--json", "--width", "1")
    #expect(json.status == 1)
    struct Document: Decodable {
      struct Repository: Decodable {
        struct Issue: Decodable { let number: Int }
        let name: String
        let issues: [Issue]
        let error: String?
      }
      let user: String
      let repositories: [Repository]
    }
    let document = try JSONDecoder().decode(Document.self, from: json.output)
    #expect(document.repositories.map(\.name) == ["octocat/a", "octocat/b", "octocat/c", "../x"])
    #expect(document.repositories.map { $0.error == nil } == [true, false, false, false])
    #expect(document.repositories[0].issues.map(\.number) == [1])
  }

  @Test func `a width limits how many repositories are requested at once`() async throws {
    let names = (0..<6).map { "octocat/r\($0)" }
    for width in [1, 2] {
      let barrier = ArrivalBarrier(width)
      let server = try LoopbackServer { request, connection in
        if request.path.hasPrefix("/users") {
          return connection.send(.init(Self.repositories(names)))
        }
        barrier.arrive()
        connection.send(.init("[]"))
      }
      let printed = try await issues(of: "octocat", at: server, "--width", "\(width)")
      #expect(printed.status == 0)
      #expect(barrier.largest == width)
    }
  }

  @Test func `a token is sent, and an exhausted rate limit is reported`() async throws {
    let server = try LoopbackServer(
      .init(
        403,
        headers: [
          "X-RateLimit-Remaining: 0", "X-RateLimit-Limit: 60", "X-RateLimit-Reset: 1700000000",
        ], "{}"))
    let printed = try await issues(of: "octocat", at: server, token: "secret")
    #expect(printed.status == 1)
    #expect(server.requests.map { $0["Authorization"] } == ["Bearer secret"])
    #expect(
      printed.error.contains(
        "DevApp issues: the rate limit of 60 requests is exhausted. "
          + "Try again at 2023-11-14T22:13:20Z, or set GITHUB_TOKEN for a higher limit.\n"))
    #expect(!printed.error.contains("secret"))
  }

  @Test func `a request to a busy server is retried`() async throws {
    let server = try LoopbackServer(
      .init(503, headers: ["Retry-After: 0"]), .init(Self.repositories("octocat/a")),
      .init(Self.issues(1)))
    let printed = try await issues(of: "octocat", at: server)
    #expect(printed.status == 0, "\(printed.error)")
    #expect(server.requests.count == 3)
  }

  @Test(arguments: [
    (404, "no user is named octocat"), (401, "rejected the token in GITHUB_TOKEN"),
    (400, "failed with status 400"),
  ])
  func `a fatal error is reported in one line`(status: Int, text: String) async throws {
    let server = try LoopbackServer(.init(status, "{}"))
    let printed = try await issues(of: "octocat", at: server)
    #expect(printed.status == 1)
    #expect(printed.error.hasPrefix("DevApp issues: ") && printed.error.contains(text))
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test func `pages on another server and cycles of pages are errors`() async throws {
    for (link, text) in [
      ("http://elsewhere.invalid/", "to another server"), ("/again", "form a cycle"),
    ] {
      let server = try LoopbackServer(.init("[]", headers: ["Link: <\(link)>; rel=\"next\""]))
      let printed = try await issues(of: "octocat", at: server)
      #expect(printed.status == 1)
      #expect(printed.error.contains(text), "\(printed.error)")
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: terminationSignals)
  func `a signal ends the program immediately`(number: Int32) async throws {
    let server = try LoopbackServer { _, connection in connection.waitForClose() }
    let program = Program.devApp("issues", "--api", "\(server.url(""))", "octocat")
    let printed = try await program.run { process in
      // Sent from the polling thread, because the request times out after a minute even if all
      // other threads are busy.
      try await eventually {
        if server.requests.isEmpty { return false }
        kill(process, number)
        return true
      }
    }
    #expect(printed.status == 128 + number)
    #expect(printed.error.contains("interrupted"))
  }

  @Test func `--trace contains the pages of every repository`() async throws {
    let server = try LoopbackServer(
      .init(Self.repositories("octocat/a")), .init(Self.issues(1)))
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("trace.txt")
    let printed = try await issues(of: "octocat", at: server, "--trace", file.path)
    #expect(printed.status == 0)
    let text = try String(contentsOf: file, encoding: .utf8)
    for part in ["repositories of octocat", "issues of octocat/a", "page /repos/octocat/a/issues"] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test(
    arguments: [
      (["issues"], "no USER"), (["issues", "a", "b"], "unexpected argument b"),
      (["issues", "a/b"], "unexpected argument a/b"),
      (["issues", "--width", "0", "a"], "invalid width 0"),
      (["issues", "--api"], "--api without a value"),
      (["issues", "--api", "x", "a"], "invalid server x"),
      (["issues", "--api", "file:///etc", "a"], "expected an http or https URL"),
      (["issues", "--nothing", "a"], "unknown option --nothing"),
      (["issues", "--api", "http://host.invalid", "a"], "sent to host.invalid unencrypted"),
    ] as [([String], String)])
  func `invalid arguments are reported with the expected ones`(arguments: [String], text: String)
    async throws
  {
    var program = Program.devApp()
    program.arguments = arguments
    program.environment = ["GITHUB_TOKEN": "secret"]
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.error.contains(text), "\(printed.error)")
    #expect(!printed.error.contains("secret"))
  }

  private func issues(
    of user: String, at server: LoopbackServer, _ options: String..., token: String = ""
  ) async throws -> ProgramResult {
    var program = Program.devApp()
    program.arguments = ["issues", "--api", "http://127.0.0.1:\(server.port)"] + options + [user]
    program.environment = ["GITHUB_TOKEN": token]
    return try await program.run()
  }

  private static func repositories(_ names: String...) -> String { repositories(names) }

  private static func repositories(_ names: [String]) -> String {
    "[" + names.map { #"{"full_name":"\#($0)"}"# }.joined(separator: ",") + "]"
  }

  /// Issues whose titles contain an escape sequence for red text.
  private static func issues(_ numbers: Int...) -> String {
    let issues = numbers.map { number in
      #"{"number":\#(number),"title":"It fails \u001b[31m","html_url":"u","user":{"login":"alice"}}"#
    }
    return "[\(issues.joined(separator: ","))]"
  }
}

/// A barrier that blocks arrivals until `width` have arrived, and records how many were inside.
private final class ArrivalBarrier: Sendable {
  private struct State: Sendable {
    var count = 0
    var largest = 0
    var arrivals = 0
  }

  private let width: Int
  private let condition = NSCondition()
  nonisolated(unsafe) private var state = State()

  init(_ width: Int) { self.width = width }

  var largest: Int {
    condition.lock()
    defer { condition.unlock() }
    return unsafe state.largest
  }

  /// Waits for the other arrivals of the same round. It is called six times.
  func arrive() {
    condition.lock()
    defer { condition.unlock() }
    unsafe state.count += 1
    unsafe state.arrivals += 1
    unsafe state.largest = max(state.largest, state.count)
    condition.broadcast()
    // The other arrivals of the round come, because `width` requests run at once.
    let round = unsafe (state.arrivals + width - 1) / width * width
    while unsafe state.arrivals < round { condition.wait() }
    unsafe state.count -= 1
  }
}
