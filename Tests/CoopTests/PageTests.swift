import DurableOperations
import Foundation
import HTTPOperations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: PageFixture.isPossible)) struct PageTests {
  func journal() async throws -> JournalFixture {
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

  @Test func `A15: Prometheus reads the runs by flow and state at /metrics`() async throws {
    let journal = try await journal()
    try journal.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, began, updated, ended)
      VALUES ('a', 'a"\\' || char(10), '{}', '{}', 'result', 0, 2500, 2500),
        ('b', 'a"\\' || char(10), '{}', '{}', 'result', 500, 1500, 1500)
      """)
    _ = try await PageFixture.serving(journal) { page in
      let answer = try await page.get("/metrics")
      #expect(answer.status == 200)
      #expect(answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
      let lines = answer.text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.last == "")
      for line in lines.dropLast() {
        #expect(
          line.wholeMatch(
            of:
              /# HELP coop_[a-z_]+ .+|# TYPE coop_[a-z_]+ gauge|coop_[a-z_]+\{flow=".+",state="[a-z]+"\} [0-9.e+-]+/
          ) != nil, "\(line)")
      }
      for line in [
        #"coop_runs{flow="Fulfilment",state="parked"} 1"#,
        #"coop_runs{flow="Packing",state="ready"} 1"#,
        #"coop_runs{flow="Fulfilment",state="error"} 1"#,
        #"coop_runs{flow="a\"\\\n",state="result"} 2"#,
        #"coop_ended_seconds{flow="a\"\\\n",state="result"} 3.5"#,
      ] { #expect(lines.contains(Substring(line)), "\(line)") }
      // The runs of the fixture have not changed since a day that is long ago.
      let age = lines.first { $0.hasPrefix(#"coop_oldest_seconds{flow="Packing",state="ready"} "#) }
      #expect(age.flatMap { $0.split(separator: " ").last.flatMap { Double($0) } } ?? -1 >= 0)
      #expect(!lines.contains { $0.hasPrefix("coop_oldest_seconds") && $0.contains("result") })
    }
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
        // Most characters are printable ASCII, for which the properties need not be looked up.
        let visible = answer.text.unicodeScalars.allSatisfy {
          (0x20..<0x7F).contains($0.value) || "\n\t".unicodeScalars.contains($0)
            || ![.control, .format].contains($0.properties.generalCategory)
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
