import DurableOperations
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)), .enabled(if: PageFixture.isPossible)) struct PageTests {
  private func journal() async throws -> JournalFixture {
    let journal = try JournalFixture()
    try await journal.startParked("order/7")
    try await journal.startFailed("failed")
    try await journal.store.start(Packing(), named: "ready")
    return journal
  }

  @Test func `A8: the list shows the runs of a state, a flow and a name, with counts`() async throws
  {
    let journal = try await journal()
    let printed = try await PageFixture.serving(journal) { page in
      func names(_ path: String) async throws -> [String] {
        let list = try await page.get(path, asJSON: true).json
        return try #require(list["runs"] as? [[String: Any]]).compactMap { $0["id"] as? String }
      }
      #expect(try await names("/") == ["ready", "order/7", "failed"].sorted(by: >))
      #expect(try await names("/?state=parked") == ["order/7"])
      #expect(try await names("/?flow=Packing") == ["ready"])
      #expect(try await names("/?text=ORDER") == ["order/7"])
      #expect(try await names("/?text=none") == [])
      let list = try await page.get("/", asJSON: true).json
      let counts = try #require(list["counts"] as? [String: Int])
      #expect(counts["ready"] == 1 && counts["parked"] == 1 && counts["error"] == 1)
      #expect(list["flows"] as? [String] == ["Fulfilment", "Packing"])
      let html = try await page.get("/?state=error")
      #expect(html.status == 200 && html.text.contains(#"<a href="/run?id=failed">failed</a>"#))
      #expect(!html.text.contains("order/7"))
      for (path, reason) in [
        ("/?state=done", "unknown state 'done'; expected ready, running"),
        ("/?page=2", "unknown parameter 'page'"), ("/?after=x", "invalid after 'x'"),
      ] {
        let answer = try await page.get(path, asJSON: true)
        #expect(answer.status == 400)
        #expect(try (answer.json["error"] as? String)?.contains(reason) == true)
      }
      #expect(try await page.get("/none").status == 404)
    }
    #expect(printed.status == 130, "\(printed.error)")
  }

  @Test func `A8: pages of 100 runs follow one another without gaps`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    try journal.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, wake, began, updated)
      SELECT value || '&/ü', 'Packing', '{}', '{}', 'ready', 0, value / 3, value FROM
        (WITH RECURSIVE numbers(value) AS
          (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 250)
        SELECT value FROM numbers)
      """)
    _ = try await PageFixture.serving(journal) { page in
      var (names, sizes) = ([String](), [Int]())
      var next: String? = ""
      while let cursor = next {
        var query = URLComponents()
        query.queryItems = [URLQueryItem(name: "after", value: cursor)]
        let list = try await page.get(
          "/?" + (query.percentEncodedQuery ?? ""), asJSON: true
        ).json
        let runs = try #require(list["runs"] as? [[String: Any]])
        names += runs.compactMap { $0["id"] as? String }
        sizes.append(runs.count)
        next = list["next"] as? String
      }
      #expect(sizes == [100, 100, 51] && Set(names).count == 251)
      // The links of the pages do the same.
      let first = try await page.get("/").text
      let older = try #require(first.firstMatch(of: /href="([^"]+)" rel="next"/))
      let second = try await page.get(
        String(older.1).replacingOccurrences(of: "&amp;", with: "&")
      ).text
      #expect(second.contains("rel=\"first\"") && second.contains("rel=\"next\""))
    }
  }

  @Test func `a run is shown with its steps, its state and its timeline`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let parked = try await page.get("/run?id=order%2F7").text
      for part in [
        "Runs</a> / order/7", "ChargeCard", "{&quot;id&quot;:&quot;pay_1&quot;}",
        "for the event &quot;approved&quot;", "State of the sequence", "/run/cancel?id=order%2F7",
      ] { #expect(parked.contains(part), "\(part)") }
      let failed = try await page.get("/run?id=failed").text
      #expect(failed.contains("<h2>Error</h2>") && failed.contains("declined"))
      let run = try await page.get("/run?id=order%2F7", asJSON: true).json
      #expect(run["event"] as? String == "approved")
      #expect((run["steps"] as? [[String: Any]])?.count == 1)
      #expect(try await page.get("/run/value?id=order%2F7&position=0").text == #"{"id":"pay_1"}"#)
      #expect(try await page.get("/run/timeline.svg?id=order%2F7").text.hasPrefix("<svg"))
      let missing = try await page.get("/run?id=none", asJSON: true)
      #expect(missing.status == 404)
      #expect(
        try missing.json["error"] as? String
          == "there is no run 'none'; it may have been forgotten")
      #expect(try await page.get("/run", asJSON: true).status == 400)
      #expect(try await page.get("/run/value?id=order%2F7&position=9").status == 404)
    }
  }

  @Test func `A8: many child flows are counted by state, with links to their lists`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "a/b")
    try journal.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, parent, began, updated)
      SELECT 'child ' || value, 'Part', '{}', '{}', iif(value < 20, 'ready', 'stuck'), 'a/b', value, 0
      FROM (WITH RECURSIVE numbers(value) AS
          (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 21)
        SELECT value FROM numbers)
      """)
    _ = try await PageFixture.serving(journal) { page in
      let many = try await page.get("/run?id=a%2Fb").text
      #expect(many.contains(#"<a href="/?parent=a%2Fb">21 child flows</a>"#))
      #expect(many.contains(#"<a href="/?state=stuck&amp;parent=a%2Fb">2 "#))
      let all = try await page.get("/?parent=a%2Fb", asJSON: true).json
      #expect((all["runs"] as? [Any])?.count == 21)
      #expect((all["counts"] as? [String: Int])?["ready"] == 19)
      let stuck = try await page.get("/?state=stuck&parent=a%2Fb").text
      #expect(stuck.contains(#"<p>Child flows of <a href="/run?id=a%2Fb">a/b</a></p>"#))
      // The filter keeps the parent.
      #expect(stuck.contains(#"name="parent" value="a/b""#))
      #expect(stuck.contains("child 20") && !stuck.contains("child 19"))
      try journal.execute("DELETE FROM run WHERE id = 'child 1'")
      let few = try await page.get("/run?id=a%2Fb").text
      #expect(few.contains(#"<a href="/run?id=child%202">child 2</a>"#))
      #expect(!few.contains("20 child flows"))
    }
  }

  @Test func `a large state is shown without its changes`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    try journal.insertRun("small", in: "stuck", with: "a", at: 0)
    try journal.insertRun("large", in: "stuck", with: "a", at: 0)
    try journal.execute(
      "UPDATE step SET sequence = json_object('a', hex(zeroblob(50000))) WHERE run = 'large'")
    _ = try await PageFixture.serving(journal) { page in
      #expect(try await page.get("/run?id=small").text.contains("State: 1 change<"))
      let large = try await page.get("/run?id=large").text
      #expect(large.contains(">State<") && large.contains("All 100,008 bytes"))
    }
  }

  @Test func `A6: names, values and errors are text and never markup`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    for state in ["stuck", "error"] {
      try journal.insertRun("plain \(state)", in: state, with: "plain", at: 0)
      for (index, text) in hostileTexts.enumerated() {
        // A program cannot give such a name to a run.
        let isName = !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        let id = (isName ? text : "\(index)") + " \(state)"
        try journal.insertRun(id, in: state, with: text, at: index + 1)
      }
    }
    #expect(hostileTexts.count >= 100)
    _ = try await PageFixture.serving(journal) { page in
      func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      }
      func tags(ofRun id: String) async throws -> [String] {
        let answer = try await page.get("/run?id=" + encoded(id))
        #expect(answer.status == 200 && answer.headers["Set-Cookie"] == nil, "\(id)")
        let visible = answer.text.unicodeScalars.allSatisfy {
          ![.control, .format].contains($0.properties.generalCategory)
            || "\n\t".unicodeScalars.contains($0)
        }
        #expect(visible, "\(id)")
        return HTMLTags.all(in: answer.text)
      }
      var plain: [String: [String]] = [:]
      for state in ["stuck", "error"] { plain[state] = try await tags(ofRun: "plain \(state)") }
      var (path, count): (String?, Int) = ("/", 0)
      while let next = path {
        let list = try await page.get(next, asJSON: true).json
        for run in try #require(list["runs"] as? [[String: Any]]) {
          let id = try #require(run["id"] as? String)
          if id == "0" { continue }
          count += 1
          let expected = try #require(plain[run["state"] as? String ?? ""])
          let found = try await tags(ofRun: id)
          #expect(found == expected, "\(id): \(found.difference(from: expected))")
        }
        path = (list["next"] as? String).map { "/?after=" + encoded($0) }
      }
      #expect(count == 2 * (hostileTexts.count + 1))
      let list = try await page.get("/?text=gpj").text
      #expect(list.contains(#"<span class="hidden">U+202E</span>gpj.exe"#))
    }
  }

  @Test func `A6: long names and values are cut, and can be read as a whole`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    try journal.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, began, updated)
        VALUES ('long', 'x', json_quote(hex(zeroblob(500000))), '{}', 'ready', 0, 0)
      """)
    // A name with 1 MB, and one character of many scalars.
    let accents = "'a' || replace(hex(zeroblob(50000)), '0', '\u{301}')"
    for (position, text) in ["hex(zeroblob(500000))", accents].enumerated() {
      try journal.execute(
        """
        INSERT INTO step VALUES ('long', \(position), '', \(text), '[]', 'result', \(text), NULL, 1,
          1, 0, 5)
        """)
    }
    _ = try await PageFixture.serving(journal) { page in
      let answer = try await page.get("/run?id=long")
      #expect(answer.status == 200 && answer.text.utf8.count < 100_000)
      #expect(try await page.get("/run/state?id=long").text.utf8.count == 1_000_002)
    }
  }

  // MARK: Actions

  @Test func `A7: a run is cancelled, retried, sent an event and forgotten`() async throws {
    let journal = try await journal()
    try await journal.startParked("waiting")
    _ = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=order%2F7")
      let cancelled = try await page.post(
        "/run/cancel?id=order%2F7", ["reason": "no <stock>"], secret: secret)
      #expect(cancelled.status == 200, "\(cancelled.text)")
      #expect(try await journal.state(of: "order/7") == .cancelled)
      #expect(try await journal.store.run("order/7")?.summary.reason == "no <stock>")
      let again = try await page.post("/run/cancel?id=order%2F7", [:], secret: secret)
      #expect(again.status == 409)
      #expect(
        try again.json["error"] as? String == "the run has already ended (cancelled)")
      let bad = try await page.post(
        "/run/send?id=waiting", ["event": "approved", "payload": "{"], secret: secret)
      #expect(bad.status == 400 && bad.text.contains("is not JSON"))
      let sent = try await page.post(
        "/run/send?id=waiting", ["event": "approved", "payload": #"{"isGranted":true}"#],
        secret: secret)
      #expect(sent.status == 200)
      #expect(try journal.text("SELECT payload FROM event") == #"{"isGranted":true}"#)
      #expect(
        try await page.post("/run/retry?id=failed", ["step": "x"], secret: secret).status == 400)
      let retried = try await page.post("/run/retry?id=failed", ["step": "0"], secret: secret)
      #expect(retried.status == 200, "\(retried.text)")
      #expect(try await journal.state(of: "failed") == .ready)
      let early = try await page.post("/run/forget?id=failed", [:], secret: secret)
      #expect(early.status == 409, "\(early.text)")
      let forgotten = try await page.post("/run/forget?id=order%2F7", [:], secret: secret)
      #expect(try forgotten.json["location"] as? String == "/")
      #expect(try await journal.store.run("order/7") == nil)
      #expect(
        try await page.post("/run/forget?id=order%2F7", [:], secret: secret).status == 404)
      #expect(try await page.post("/run/explode?id=ready", [:], secret: secret).status == 404)
    }
  }

  @Test func `A7: a refused action without a script shows the run as it is, with links`()
    async throws
  {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=order%2F7")
      let bad = try await page.post(
        "/run/send?id=order%2F7", ["event": "approved", "payload": "{"], secret: secret,
        asJSON: false)
      #expect(bad.status == 400)
      #expect(bad.text.contains(#"role="alert" tabindex="-1">the value is not JSON: &#39;{&#39;"#))
      let link = #"The run <a href="/run?id=order%2F7">order/7</a> is now "#
      #expect(bad.text.contains(link + #"<span class="state parked">parked</span>"#))
      #expect(bad.text.contains(#"<p><a href="/">All runs</a></p>"#))
      // The address of the action is no page that changes.
      #expect(!bad.text.contains("<script") && !bad.text.contains("not live"))
      try await journal.store.cancel("order/7")
      let late = try await page.post("/run/cancel?id=order%2F7", [:], secret: secret, asJSON: false)
      #expect(late.status == 409)
      #expect(late.text.contains(link + #"<span class="state cancelled">cancelled</span>"#))
      try await journal.store.forget("order/7")
      let gone = try await page.post("/run/cancel?id=order%2F7", [:], secret: secret, asJSON: false)
      #expect(gone.status == 404 && gone.text.contains("All runs</a>"))
      #expect(!gone.text.contains("is now"))
    }
  }

  @Test func `the events that were sent to a run are shown, the newest first`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=order%2F7")
      #expect(!(try await page.get("/run?id=order%2F7").text.contains("<h2>Events</h2>")))
      let long = "\"" + String(repeating: "x", count: 3_000) + "\""
      for (event, payload) in [("approved", #"{"isGranted":true}"#), ("z/<b>", long)] {
        let sent = try await page.post(
          "/run/send?id=order%2F7", ["event": event, "payload": payload], secret: secret)
        #expect(sent.status == 200, "\(sent.text)")
      }
      let html = try await page.get("/run?id=order%2F7").text
      let rows = try #require(html.firstMatch(of: /<h2>Events<\/h2>[\s\S]*?<\/table>/)).0
      #expect(rows.contains(#"<td class="run">approved</td>"#))
      #expect(rows.contains("<code>{&quot;isGranted&quot;:true}</code>"))
      let first = try #require(rows.firstRange(of: "z/&lt;b&gt;"))
      #expect(first.lowerBound < (try #require(rows.firstRange(of: "approved"))).lowerBound)
      let link = try #require(rows.firstMatch(of: /href="([^"]+)">All 3,002 bytes/)).1
      #expect(try await page.get(String(link).replacing("&amp;", with: "&")).text == long)
      #expect(try await page.get("/run/value?id=order%2F7&event=none").status == 404)
      let json = try await page.get("/run?id=order%2F7", asJSON: true).json
      let events = try #require(json["events"] as? [[String: Any]])
      #expect(events.map { $0["name"] as? String } == ["z/<b>", "approved"])
      #expect(events[1]["value"] as? [String: Bool] == ["isGranted": true])
      #expect((events[1]["sent"] as? String)?.hasSuffix("Z") == true)
    }
  }

  @Test func `A1: an action needs the secret of the page, its origin and POST`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let path = "/run/cancel?id=ready"
      let secret = try await page.secret("/run?id=ready")
      for (secret, origin) in [
        (nil, nil), ("x", nil), (secret, "http://evil.example"), (secret, "null"),
      ] as [(String?, String?)] {
        #expect(
          try await page.post(path, [:], secret: secret, origin: origin).status == 403)
      }
      let asked = try await page.get(path)
      #expect(asked.status == 405 && asked.headers["Allow"] as? String == "POST")
      let posted = try await page.post("/run?id=ready", [:], secret: secret)
      #expect(posted.status == 405 && posted.headers["Allow"] as? String == "GET, HEAD")
      #expect(try await page.get("/", headers: ["Host": "evil.example"]).status == 421)
      #expect(try await journal.state(of: "ready") == .ready)
      let answer = try await page.get("/")
      let policy = try #require(answer.headers["Content-Security-Policy"] as? String)
      #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
    }
  }

  @Test func `A7: a read-only page has no actions`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal, "--read-only") { page in
      let text = try await page.get("/run?id=ready").text
      #expect(text.contains("<h2>Steps</h2>") && !text.contains("<form method=\"post\""))
      let reason = "page is read-only: it was started with --read-only"
      #expect(text.components(separatedBy: reason).count == 2)
    }
    let file = journal.folder.path + "/token"
    try PageFixture.writeToken("0123456789abcdef\n", to: file)
    _ = try await PageFixture.serving(journal, "--read-only", "--token-file", file) { page in
      let acted = try await page.post(
        "/run/cancel?id=ready", [:], secret: nil,
        headers: ["Authorization": "Bearer 0123456789abcdef"])
      #expect(acted.status == 403 && acted.text.contains("read-only"), "\(acted.text)")
      #expect(try await journal.state(of: "ready") == .ready)
    }
  }

  @Test func `A7: the page of a file that cannot be written has no actions`() async throws {
    let journal = try await journal()
    try journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let (folder, reachable) = (try TemporaryFolder(), try TemporaryFolder())
    let file = folder.path + "/copy"
    let manager = FileManager.default
    try manager.copyItem(atPath: journal.path, toPath: file)
    for (path, permissions) in [(file, 0o444), (folder.path, 0o555)] {
      try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }
    defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    let printed = try await PageFixture.serving(
      file, in: journal.folder, [], withoutPrivilegesIn: reachable
    ) { page in
      let text = try await page.get("/run?id=ready").text
      #expect(text.contains("<h2>Steps</h2>") && !text.contains("<form method=\"post\""))
      let reason = "The page is read-only: \(file) can be read, but not written."
      #expect(text.components(separatedBy: reason).count == 2, "\(text)")
      #expect(try await page.get("/").status == 200)
    }
    #expect(printed.status == 130, "\(printed.error)")
  }

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
      #expect(refused.text.contains("<code>DevApp journal STORE serve --token-file FILE</code>"))
      let bearer = ["Authorization": "Bearer 0123456789abcdef"]
      #expect(try await page.get("/", headers: bearer).status == 200)
    }
  }

  @Test(arguments: [
    (["--address", "0.0.0.0:0"], "can be reached from other hosts; use a token"),
    (["--address", "nowhere"], "nowhere"),
    (["--address", "127.0.0.1:99999"], "99999"),
    (["--token-file", "/none"], "the token file /none"),
    (
      ["--token-file", "/dev/null"],
      "the token file /dev/null is not a file; put the token into one"
    ),
    (["--token-file", "."], "the token file . is not a file"),
    (["--host", "a:80"], "invalid --host a:80; expected a name of this machine without a port"),
  ])
  func `an address and a token that cannot be used are named`(
    options: [String], text: String
  ) async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    let printed = try await journal.program(["serve"] + options).run()
    #expect(printed.status == (options[0] == "--host" ? 64 : 1) && printed.output.isEmpty)
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
    #expect(printed.error.hasPrefix("DevApp journal: the token file"), "\(printed.error)")
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

  // MARK: Changes

  @Test func `A8: a file that is removed or replaced is an error, and is not changed`()
    async throws
  {
    let (journal, other) = (try await journal(), try JournalFixture())
    try await other.store.start(Packing(), named: "other")
    let folder = try TemporaryFolder()
    let file = folder.path + "/f.sqlite"
    let manager = FileManager.default
    func put(_ fixture: JournalFixture, at path: String) throws {
      try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      try manager.copyItem(atPath: fixture.path, toPath: path)
    }
    try put(journal, at: file)
    let printed = try await PageFixture.serving(file, in: journal.folder, []) { page in
      // The change is in the log.
      let secret = try await page.secret("/run?id=ready")
      #expect(try await page.post("/run/cancel?id=ready", [:], secret: secret).status == 200)
      let size = try #require(
        manager.attributesOfItem(atPath: file + "-wal")[.size] as? Int)
      #expect(size > 0)
      let stream = try EventStream(of: page)
      let first = try #require(try await stream.next())
      try manager.moveItem(atPath: file, toPath: file + ".old")
      for path in ["/", "/run?id=ready", "/run/log?id=ready&step=a", "/run/timeline.svg?id=ready"] {
        let answer = try await page.get(path, asJSON: true)
        #expect(answer.status == 503, "\(path)")
        #expect(
          try answer.json["error"] as? String
            == "the journal \(file) was removed; put it back, or end this page")
      }
      #expect(try await page.get("/").text.contains("was removed; put it back"))
      #expect(!manager.fileExists(atPath: file))
      #expect(try await stream.next() != first)
      try manager.moveItem(atPath: file + ".old", toPath: file)
      #expect(try await page.get("/run?id=ready").text.contains(">cancelled<"))
      // A rename replaces the file at once.
      try put(other, at: file + ".new")
      let renamed = unsafe rename(file + ".new", file)
      #expect(renamed == 0)
      for path in ["/", "/run?id=other"] {
        let answer = try await page.get(path, asJSON: true)
        #expect(answer.status == 503, "\(path)")
        #expect(
          try #require(answer.json["error"] as? String).hasPrefix(
            "another file is at \(file); end this page, remove \(file)-wal"))
      }
      #expect(try await page.post("/run/cancel?id=other", [:], secret: secret).status == 503)
    }
    #expect(printed.status == 130, "\(printed.error)")
    for suffix in ["-wal", "-shm"] { try? manager.removeItem(atPath: file + suffix) }
    #expect(FlowFixture.stored("SELECT id || ' ' || state FROM run", in: file) == ["other ready"])
    #expect(FlowFixture.stored("PRAGMA integrity_check", in: file) == ["ok"])
  }

  @Test func `A8: an open page receives the changes of another process`() async throws {
    let journal = try await journal()
    let printed = try await PageFixture.serving(journal) { page in
      let stream = try EventStream(of: page)
      // The state at the beginning.
      #expect(try await stream.next() != nil)
      try await journal.store.cancel("ready")
      #expect(try await stream.next() != nil)
      #expect(try await page.get("/?state=cancelled").text.contains("ready"))
      // It is open while the server ends.
    }
    #expect(printed.status == 130, "\(printed.error)")
  }
}
