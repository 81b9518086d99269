import DurableOperations
import Foundation
import TestSupport
import Testing

extension PageTests {
  /// Requests a page with curl as another user.
  private func asOther(_ arguments: String...) async throws -> ProgramResult {
    let program = try #require(
      Program.installed(
        "setpriv", "--reuid=1", "--regid=1", "--clear-groups", "/usr/bin/curl", "-s"))
    var other = program
    other.arguments += arguments
    return try await other.run()
  }

  @Test(
    .enabled(
      if: geteuid() == 0 && Program.installed("setpriv") != nil && Program.installed("curl") != nil,
      "needs root, setpriv and curl")
  )
  func `A12: another user of the machine gets nothing, and changes nothing`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=order%2F7")
      let own = page.url.absoluteString
      for path in ["", "run?id=failed", "run/log?id=failed&step=a", "events", "icon.svg", "none"] {
        let answer = try await asOther("-w", "%{http_code}", own + path)
        #expect(answer.text.hasSuffix("\n403") && !answer.text.contains("order"), "\(path)")
        #expect(answer.text.hasPrefix("The server answers only programs of its own user"))
      }
      // Also if it knew the secret of the form.
      let act = try await asOther(
        "-w", "%{http_code}", "-H", "Origin: \(own.dropLast())", "-d", "form-secret=\(secret)",
        own + "run/cancel?id=order%2F7")
      #expect(act.text.hasSuffix("\n403"), "\(act.text)")
      #expect(try await journal.state(of: "order/7") == .parked)
      #expect(try await page.get("/").status == 200)
      #expect(page.line.contains(" to programs of user root; Ctrl-C"), "\(page.line)")
    }
  }

  @Test(
    .enabled(
      if: geteuid() == 0 && Program.installed("setpriv") != nil, "needs root and setpriv"))
  func `A12: a server of the user nobody asks for a token`() async throws {
    let journal = try await journal()
    try journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    // A journal that this user may write, with the files that SQLite creates beside it.
    let (reachable, open) = (try TemporaryFolder(), try TemporaryFolder())
    let file = open.path + "/copy"
    try FileManager.default.copyItem(atPath: journal.path, toPath: file)
    for (path, permissions) in [(open.path, 0o777), (file, 0o666)] {
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }
    _ = try await PageFixture.serving(
      file, in: journal.folder, [], withoutPrivilegesIn: reachable, as: 65_534
    ) { page in
      #expect(page.line.contains(" to programs that have this link; Ctrl-C"), "\(page.line)")
      #expect(page.url.query?.hasPrefix("token=") == true)
      let status = try await page.get("/").status
      #expect(status == 401)
    }
  }

  @Test func `A12: each action is a line of the terminal and a row: who, when, what`() async throws
  {
    let journal = try await journal()
    let user = NSUserName()
    let printed = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=order%2F7")
      _ = try await page.post("/run/cancel?id=order%2F7", ["reason": "too\nlate"], secret: secret)
      let refused = try await page.post("/run/cancel?id=order%2F7", [:], secret: secret)
      #expect(refused.status == 409)
      let run = try await page.get("/run?id=order%2F7", asJSON: true).json
      let actions = try #require(run["actions"] as? [[String: Any]])
      #expect(actions.map { $0["action"] as? String } == ["cancel", "cancel"])
      #expect(actions.map { $0["actor"] as? String } == ["user \(user)", "user \(user)"])
      #expect(actions[1]["detail"] as? String == "too\nlate")
      #expect(actions[1]["problem"] is NSNull)
      #expect(actions[0]["problem"] as? String == "the run has already ended (cancelled)")
      let html = try await page.get("/run?id=order%2F7").text
      #expect(html.contains("<h2>Actions</h2>") && html.contains(">user \(user)</td>"))
      _ = try await page.post("/run/forget?id=order%2F7", [:], secret: secret)
    }
    let lines = printed.error.split(separator: "\n").map { $0.drop { $0 != "c" }.dropFirst(14) }
    let texts = lines.map { $0.dropFirst(20) }
    #expect(
      texts == [
        "cancel order/7 (too·late) by user \(user): done",
        "cancel order/7 by user \(user): the run has already ended (cancelled)",
        "forget order/7 by user \(user): done",
      ], "\(printed.error)")
    // The row stays after the run.
    #expect(
      try journal.text("SELECT group_concat(action || ' ' || run, ', ') FROM run_action")
        == "cancel order/7, cancel order/7, forget order/7")
    _ = try await journal.run("forget", "--older-than", "52w")
    #expect(
      try journal.text("SELECT run || action || ' ' || detail FROM run_action WHERE run = ''")
        == "forget older than 31449600 s")
    _ = try await journal.run("retry", "failed", "--from", "0")
    let shown = try await journal.run("show", "failed")
    #expect(
      shown.text.contains("  retry (from step 0) at ")
        && shown.text.hasSuffix(" by user \(user) by coop journal: done\n"), "\(shown.text)")
  }

  @Test func `A12: an action without a row is not done`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=failed")
      try journal.execute("CREATE TABLE run_action (other TEXT)")
      let refused = try await page.post("/run/cancel?id=order%2F7", [:], secret: secret)
      #expect(refused.status == 409, "\(refused.text)")
      let named = "has a table run_action of another program, whose name the journal needs"
      #expect(refused.text.contains(named), "\(refused.text)")
      let html = try await page.get("/run?id=order%2F7").text
      #expect(html.contains("<h2>Steps</h2>") && !html.contains("<h2>Actions</h2>"))
    }
    #expect(try await journal.state(of: "order/7") == .parked)
    #expect(try await journal.run("show", "order/7").status == 0)
    #expect(try await journal.run("forget", "--older-than", "1s").status == 1)
  }

  @Test(.enabled(if: Program.installed("curl") != nil))
  func `A12: a proxy that sends the token names the user of an action`() async throws {
    let journal = try await journal()
    let file = journal.folder.path + "/token"
    try PageFixture.writeToken("0123456789abcdef\n", to: file)
    _ = try await PageFixture.serving(
      journal, "--token-file", file, "--public-url", "https://runs.example",
      "--user-header", "X-Forwarded-User"
    ) { page in
      #expect(page.line.contains("/, as https://runs.example/, shows the runs"), "\(page.line)")
      let proxy = ["Authorization": "Bearer 0123456789abcdef", "X-Forwarded-User": "ann"]
      let html = try await page.get("/run?id=failed", headers: proxy).text
      let secret = String(
        try #require(html.firstMatch(of: /name="form-secret" value="([^"]+)"/)).1)
      func retry(_ headers: [String: String], secret: String?, _ origin: String) async throws -> Int
      {
        try await page.post(
          "/run/retry?id=failed", ["step": "0"], secret: secret, origin: origin, headers: headers
        ).status
      }
      #expect(try await retry(proxy, secret: nil, "https://runs.example") == 403)
      #expect(try await retry(proxy, secret: secret, "https://evil.example") == 403)
      #expect(
        try await retry(["X-Forwarded-User": "eve"], secret: secret, "https://runs.example") == 401)
      #expect(try await retry(proxy, secret: secret, "https://runs.example") == 200)
      // A client has sent the first name through a proxy that adds its own.
      let twice = try #require(
        Program.installed(
          "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
          "-H", "Authorization: Bearer 0123456789abcdef", "-H", "X-Forwarded-User: eve",
          "-H", "X-Forwarded-User: ann", "-H", "Origin: https://runs.example",
          "-d", "form-secret=\(secret)&step=0", page.url.absoluteString + "run/retry?id=failed"))
      #expect(try await twice.run().text == "409")
      // A browser with the session, and without the proxy.
      let curl = try #require(
        Program.installed("curl", "-si", page.url.absoluteString + "?token=0123456789abcdef"))
      let opened = try await curl.run().text
      let cookie = try #require(opened.firstMatch(of: /Set-Cookie: ([^;]+)/))
      let own = String(page.url.absoluteString.dropLast())
      let direct = try #require(
        Program.installed(
          "curl", "-s", "-w", "%{http_code}", "-H", "Cookie: \(cookie.1)", "-H", "Origin: \(own)",
          "-H", "X-Forwarded-User: eve", "-H", "Accept: application/json",
          "-d", "form-secret=\(secret)&step=0", own + "/run/retry?id=failed"))
      let refused = try await direct.run().text
      #expect(refused.hasSuffix("\n409"), "\(refused)")
    }
    #expect(
      try journal.text("SELECT group_concat(actor) FROM run_action")
        == "ann,user \(NSUserName()),user \(NSUserName())")
  }
}
