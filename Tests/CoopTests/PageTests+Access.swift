import DurableOperations
import Foundation
import TestSupport
import Testing

extension PageTests {
  @Test func `A1: a token is asked for`() async throws {
    let journal = try await journal()
    let file = journal.folder.url.appendingPathComponent("token")
    try PageFixture.writeToken("0123456789abcdef\n", to: file.path)
    _ = try await PageFixture.serving(journal, "--token-file", file.path) { page in
      let refused = try await page.get("/run?id=ready")
      #expect(refused.status == 401)
      #expect(refused.text.contains(#"action="/login?to=%2Frun%3Fid%3Dready""#))
      // It looks like the other pages, and needs no script.
      #expect(
        refused.text.contains("prefers-color-scheme: dark") && !refused.text.contains("<script"))
      #expect(refused.text.contains("<code>coop journal STORE serve --token-file FILE</code>"))
      let bearer = ["Authorization": "Bearer 0123456789abcdef"]
      #expect(try await page.get("/", headers: bearer).status == 200)
    }
  }

  @Test(arguments: [
    (["--address", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0; use --token-file FILE"),
    (["--address", "nowhere"], "invalid --address nowhere; expected an IP address and a port"),
    (["--address", "127.0.0.1:99999"], "invalid --address 127.0.0.1:99999"),
    (
      ["--token-file", "/no ne"],
      "does not exist; `(umask 077; head -c 24 /dev/urandom | base64 >'/no ne')` makes it"
    ),
    (
      ["--token-file", "/dev/null"],
      "the token file /dev/null is not a file; put the token into one"
    ),
    (["--token-file", "."], "the token file . is not a file"),
    (["--host", "a:80"], "invalid --host a:80; expected a name of this machine without a port"),
    (["--host", "a..b"], "invalid --host a..b"),
    (["--host", "."], "invalid --host ."),
  ])
  func `an address and a token that cannot be used are named`(
    options: [String], text: String
  ) async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    let printed = try await journal.program(["serve"] + options).run()
    #expect(printed.status == (text.contains("invalid") ? 64 : 1) && printed.output.isEmpty)
    #expect(printed.error.contains(text), "\(printed.error)")
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    (
      0o644, "0123456789abcdef",
      "has the permissions 644, so other users may use it; run `chmod 600 "
    ),
    (0o610, "0123456789abcdef", "has the permissions 610"), (0o604, "0123456789abcdef", "604"),
    (0o600, "", "has no token in its first line; `head -c 24 /dev/urandom | base64` prints one"),
    (0o600, "\n0123456789abcdef", "has no token in its first line"),
    (0o600, "0123456789abcde\n", "has a token of 15 bytes; expected at least 16"),
    (0o600, "0123456789 abcdef", "has the byte 0x20 at position 10 of its first line"),
    (0o600, "0123456789abcdé", "has the byte 0xC3 at position 14"),
    (0o600, "0123456789abcde\u{0}f", "has the byte 0x00 at position 15"),
    (0o600, "0123456789abcdef\r\r\n", "has the byte 0x0D at position 16"),
    (0o600, String(repeating: "a", count: 4_096), "has no line feed in its first 4,096 bytes"),
  ])
  func `A1: a token file that others can use, or without a token, is refused`(
    permissions: Int, text: String, problem: String
  ) async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    let file = journal.folder.path + "/a token"
    try PageFixture.writeToken(text, to: file, permissions: permissions)
    let printed = try await journal.program(["serve", "--token-file", file]).run()
    #expect(printed.status == 1 && printed.output.isEmpty)
    #expect(printed.error.hasPrefix("coop journal: the token file"), "\(printed.error)")
    #expect(printed.error.contains(problem), "\(printed.error)")
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test func `A1: names of the machine are accepted, and an address to open is printed`()
    async throws
  {
    let journal = try await journal()
    let file = journal.folder.path + "/token"
    try PageFixture.writeToken("0123456789abcdef\n", to: file)
    let bearer = "Bearer 0123456789abcdef"
    let printed = try await PageFixture.serving(
      journal, "--address", "0.0.0.0:0", "--token-file", file
    ) { page in
      let port = try #require(page.url.port)
      #expect(page.url.host() != "0.0.0.0")
      #expect(
        page.line.hasSuffix(" and asks for the token; Ctrl-C ends the page\n"), "\(page.line)")
      for (host, expected) in [
        (try #require(page.url.host()), 200), ("localhost", 200), ("evil.example", 421),
      ] {
        let answer = try await page.get(
          "/icon.svg", headers: ["Host": "\(host):\(port)", "Authorization": bearer])
        #expect(answer.status == expected, "\(host)")
      }
    }
    #expect(printed.status == 130)
    _ = try await PageFixture.serving(
      journal, "--host", "localhost", "--host", "runs.example"
    ) { page in
      #expect(page.url.host() == "localhost")
      let port = try #require(page.url.port)
      for (host, expected) in [("Runs.Example", 200), ("other.example", 421)] {
        let answer = try await page.get("/", headers: ["Host": "\(host):\(port)"])
        #expect(answer.status == expected, "\(host)")
      }
    }
  }
}
