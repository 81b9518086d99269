import DurableOperations
import Foundation
import SystemSupport
import TestSupport
import Testing

extension PageTests {
  @Test func `A11: a run whose process has ended is interrupted, although no row changes`()
    async throws
  {
    let journal = try await journal()
    try journal.execute("UPDATE run SET state = 'running', owner = 99 WHERE id = 'ready'")
    // The lock of an owner, as rule J10 has it.
    let (owner, byte) = (try FileDescriptor.open(journal.path, .readOnly), Int64(1) << 62 + 99)
    defer { try? owner.close() }
    try owner.lock(byte: byte)
    func row() throws -> String? {
      try journal.text("SELECT json_array(state, owner, updated) FROM run WHERE id = 'ready'")
    }
    let before = try row()
    _ = try await PageFixture.serving(journal) { page in
      func names(_ state: String) async throws -> [String] {
        let list = try await page.get("/?state=\(state)", asJSON: true).json
        return try #require(list["runs"] as? [[String: Any]]).compactMap { $0["id"] as? String }
      }
      func counts() async throws -> [String: Int] {
        try #require(try await page.get("/", asJSON: true).json["counts"] as? [String: Int])
      }
      let stream = try EventStream(of: page)
      try await stream.change()
      #expect(try await names("running") == ["ready"])
      #expect(try await counts()["interrupted"] == 0)
      #expect(try await page.get("/").text.contains("data-since>"))
      try owner.unlock(byte: byte)
      try await stream.change()
      #expect(try await names("interrupted") == ["ready"])
      #expect(try await names("running") == [])
      let counts = try await counts()
      #expect(counts["interrupted"] == 1 && counts["running"] == 0)
      let run = try await page.get("/run?id=ready", asJSON: true).json
      #expect(run["state"] as? String == "interrupted" && run["ownerHasEnded"] as? Bool == true)
      let html = try await page.get("/?state=interrupted").text
      #expect(html.contains(#"<span class="state interrupted">interrupted</span> 1</a>"#))
      // Its time does not continue: when the process has ended is not known.
      #expect(!html.contains("data-since>"))
    }
    #expect(try row() == before)
    let listed = try await journal.run("list", "--state", "interrupted", "--json")
    #expect(listed.text.contains(#""state":"interrupted""#))
    let shown = try await journal.run("show", "ready")
    #expect(shown.text.contains("interrupted: its process has ended"), "\(shown.text)")
  }

  @Test func `A11: an open page hears the time of the server, also without a change`() async throws
  {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal) { page in
      let event = try #require(try await EventStream(of: page).next("alive"))
      let match = try #require(event.firstMatch(of: /event: alive\ndata: ([0-9]+)\n/))
      let time = try #require(Double(match.1)) / 1_000
      #expect(abs(time - Date().timeIntervalSince1970) < 3_600)
      #expect(try await page.get("/").text.contains(/<body data-now="[0-9-]+T[0-9:.]+Z">/))
    }
  }

  @Test(.enabled(if: PageScript.isPossible))
  func `A11: a page continues its times, and its dot turns off after 30 seconds of silence`()
    async throws
  {
    let script = PageScript(
      """
      const since = element({ "data-since": "", datetime: at(-65) });
      const ago = element({ "data-ago": "", datetime: at(-3599) });
      const label = element({ "data-since": at(-5), "data-before": "▸ running, " });
      send("open");
      const texts = () => [since, ago, label, live].map((element) => element.textContent);
      const seen = [];
      for (const seconds of [1, 1, 28, 1]) {
        pass(seconds);
        seen.push(texts());
      }
      send("alive", Date.now());
      seen.push(live.textContent);
      send("error");
      seen.push(live.className);
      // The clock of the reader's machine is wrong by an hour.
      clock += 3600e3;
      send("alive", Date.now() - 3600e3);
      pass(1);
      seen.push(since.textContent);
      print(seen);
      """)
    #expect(
      try await script.run() == """
        [["1 min 6 s","1 h ago","▸ running, 6 s","live"],["1 min 7 s","1 h ago","▸ running, 7 s","live"],\
        ["1 min 35 s","1 h ago","▸ running, 35 s","live"],["1 min 36 s","1 h ago","▸ running, 36 s",\
        "nothing heard from the server for more than 30 s"],"live","live lost","1 min 37 s"]

        """)
  }
}
