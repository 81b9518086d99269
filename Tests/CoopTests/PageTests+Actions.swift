import DurableOperations
import Foundation
import HTTPOperations
import SQLiteSupport
import TestSupport
import Testing

extension PageTests {
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

  @Test
  func `A7: an action that another process delays for too long is no change, and can be repeated`()
    async throws
  {
    let journal = try await journal()
    let path = journal.path
    let other = SQLiteWorker("other") {
      try SQLiteConnection.open(path, for: .writing, SQLiteConfiguration(access: .existing))
    }
    _ = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/run?id=ready")
      try await other.run { try $0.execute("BEGIN IMMEDIATE") }
      let delayed = try await page.post("/run/cancel?id=ready", [:], secret: secret)
      #expect(delayed.status == 503 && delayed.text.contains("locked"), "\(delayed.text)")
      // Readers do not wait.
      #expect(try await page.get("/run?id=ready").text.contains(">ready<"))
      try await other.run { try $0.execute("ROLLBACK") }
      #expect(try await page.post("/run/cancel?id=ready", [:], secret: secret).status == 200)
      #expect(try await journal.state(of: "ready") == .cancelled)
    }
    await other.close()
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
      #expect(asked.status == 405 && asked.headers["Allow"] == "POST")
      let posted = try await page.post("/run?id=ready", [:], secret: secret)
      #expect(posted.status == 405 && posted.headers["Allow"] == "GET, HEAD")
      #expect(try await page.get("/", headers: ["Host": "evil.example"]).status == 421)
      #expect(try await journal.state(of: "ready") == .ready)
      let answer = try await page.get("/")
      let policy = try #require(answer.headers["Content-Security-Policy"])
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
}
