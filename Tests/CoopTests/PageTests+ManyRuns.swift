import DurableOperations
import TestSupport
import Testing

extension PageTests {
  @Test
  func `A7: an action on a filtered list is for all of its runs, if their number is confirmed`()
    async throws
  {
    let journal = try await journal()
    for name in ["late-1", "late-2"] { try await journal.startFailed(RunID(name)) }
    _ = try await PageFixture.serving(journal) { page in
      let all = try await page.get("/").text
      #expect(!all.contains("<form method=\"post\""))
      let list = try await page.get("/?state=error&text=late").text
      #expect(list.contains("<summary>Retry 2 runs…</summary>"), "\(list)")
      #expect(list.contains("<summary>Forget 2 runs…</summary>") && !list.contains("Cancel 2"))
      #expect(list.contains(#"action="/runs/retry?state=error&amp;text=late""#))
      let secret = try await page.secret("/?state=error&text=late")
      let path = "/runs/retry?state=error&text=late"
      for (path, number, status, text) in [
        (path, "3", 409, "the action is for 2 runs now, and not for 3; nothing is changed"),
        (path, "", 400, "expected how many runs the action is for"),
        ("/runs/retry", "3", 400, "no filter; expected state, flow, text or parent"),
        ("/runs/retry?state=bad", "3", 400, "unknown state"),
      ] {
        let refused = try await page.post(path, ["number": number], secret: secret)
        #expect(refused.status == status && refused.text.contains(text), "\(refused.text)")
      }
      #expect(try await page.post(path, ["number": "2"], secret: nil).status == 403)
      #expect(try await page.post("/runs/send?text=late", [:], secret: secret).status == 404)
      #expect(try await journal.state(of: "late-1") == .error)
      let retried = try await page.post(path, ["number": "2"], secret: secret)
      #expect(retried.status == 200, "\(retried.text)")
      #expect(try retried.json["done"] as? String == "retry: done for 2 runs.")
      for name in ["late-1", "late-2"] {
        #expect(try await journal.state(of: RunID(name)) == .ready)
        #expect(try await journal.store.actions(on: RunID(name)).map(\.action) == ["retry"])
      }
      #expect(try await journal.state(of: "failed") == .error)
      let cancelled = try await page.post(
        "/runs/cancel?flow=Fulfilment", ["number": "3", "reason": "a test"], secret: secret,
        asJSON: false)
      #expect(cancelled.status == 200, "\(cancelled.text)")
      #expect(try await journal.store.run("order/7")?.summary.reason == "a test")
      #expect(try await journal.state(of: "failed") == .error)
      #expect(try await journal.state(of: "ready") == .ready)
      let forgotten = try await page.post(
        "/runs/forget?text=late", ["number": "2"], secret: secret)
      #expect(forgotten.status == 200, "\(forgotten.text)")
      #expect(try await journal.state(of: "late-1") == nil)
    }
  }

  @Test func `A7: a run for which an action on a list fails is named, and the others are done`()
    async throws
  {
    let journal = try await journal()
    for name in ["late-1", "late-2"] { try await journal.startFailed(RunID(name)) }
    try journal.execute(
      """
      CREATE TRIGGER refusal BEFORE UPDATE ON run WHEN old.id = 'late-2'
      BEGIN SELECT raise(FAIL, 'the order is locked'); END
      """)
    let printed = try await PageFixture.serving(journal) { page in
      let secret = try await page.secret("/?text=late")
      let retried = try await page.post("/runs/retry?text=late", ["number": "2"], secret: secret)
      #expect(retried.status == 409)
      let error = try #require(try retried.json["error"] as? String)
      #expect(error.hasPrefix("retry: done for 1 run, failed for 1, such as 'late-2': "))
      #expect(error.contains("the order is locked"))
      #expect(try await journal.state(of: "late-1") == .ready)
    }
    #expect(printed.error.contains("retry late-1 by "), "\(printed.error)")
  }

  @Test func `A7: a list has no actions on a page that is read-only`() async throws {
    let journal = try await journal()
    _ = try await PageFixture.serving(journal, "--read-only") { page in
      let list = try await page.get("/?state=error").text
      #expect(!list.contains("<form method=\"post\""))
    }
  }
}
