import CompositeOperations
import DurableOperations
import Foundation
import TestSupport
import Testing

/// Its step never ends.
struct LongCall: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    previous == nil ? PackItem(item: nil).named("long call") : nil
  }
}

struct RetryingCharge: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard previous == nil else { return nil }
    return ChargeCard(declines: true)
      .durablyRetrying(attempts: 6, backoff: .constant(.seconds(86_400)))
  }
}

extension PageTests {
  @Test func `A13: the page and show name the step that runs, its begin and its process`()
    async throws
  {
    let journal = try await journal()
    try await journal.store.start(LongCall(), named: "slow")
    let worker = DurableWorker(in: journal.store, running: [LongCall.self]).start()
    _ = try await PageFixture.serving(journal) { page in
      let stream = try EventStream(of: page)
      var step: [String: Any]?
      while step == nil {
        try await stream.change()
        let run = try await page.get("/run?id=slow", asJSON: true).json
        step = run["currentStep"] as? [String: Any]
        let process = "/\(ProcessInfo.processInfo.processIdentifier)"
        if step != nil { #expect((run["worker"] as? String)?.hasSuffix(process) == true) }
      }
      #expect(step?["name"] as? String == "long call")
      #expect(step?["began"] as? String == "2026-11-24T12:00:00.000Z")
      let html = try await page.get("/run?id=slow").text
      #expect(html.contains("<dt>Step in progress</dt><dd>long call"))
    }
    let shown = try await journal.run("show", "slow")
    #expect(
      shown.text.contains(#/  0  long call  runs on [^ ]+/[0-9]+ since 2026-11-24 12:00\n/#),
      "\(shown.text)")
    worker.cancel()
    _ = await worker.outcome
  }

  @Test func `A13: a foreign table with the name of a table of the journal is left alone`()
    async throws
  {
    let journal = try await journal()
    try journal.execute("CREATE TABLE run_step (a TEXT, b TEXT, c TEXT, d TEXT, e TEXT)")
    try await journal.store.start(LongCall(), named: "slow")
    let worker = DurableWorker(in: journal.store, running: [LongCall.self]).start()
    while try await journal.state(of: "slow") != .running { await Task.yield() }
    _ = try await PageFixture.serving(journal) { page in
      let html = try await page.get("/run?id=slow").text
      #expect(html.contains("<h2>Steps</h2>") && !html.contains("<dt>Step in progress</dt>"))
    }
    #expect(try await journal.run("show", "slow").status == 0)
    worker.cancel()
    _ = await worker.outcome
    #expect(try journal.text("SELECT count(*) FROM run_step") == "0")
  }

  @Test func `A13: a run that retries shows its attempt, the last error and the next attempt`()
    async throws
  {
    let journal = try await journal()
    try await journal.start(RetryingCharge(), named: "retrying") { $0.summary.state == .parked }
    _ = try await PageFixture.serving(journal) { page in
      let run = try await page.get("/run?id=retrying", asJSON: true).json
      let step = try #require(run["currentStep"] as? [String: Any])
      #expect(step["name"] as? String == "ChargeCard")
      #expect(step["attempt"] as? Int == 1 && step["attemptLimit"] as? Int == 6)
      #expect(step["lastError"] as? String == "CoopTests.CardError: declined")
      #expect(step["nextAttempt"] as? String == "2026-11-25T12:00:00.000Z")
      let html = try await page.get("/run?id=retrying").text
      #expect(
        html.contains(
          #"<span class="state retrying">attempt 1 of 6</span> failed, the next one in"#))
      #expect(html.contains("<dt>Last error</dt><dd>CoopTests.CardError: declined</dd>"))
    }
    let shown = try await journal.run("show", "retrying")
    #expect(
      shown.text.contains(
        "attempt 1 of 6 failed, next at 2026-11-25 12:00:00: CoopTests.CardError: declined"),
      "\(shown.text)")
  }

  @Test func `A14: the list has the first line of the error, and the page the step that failed`()
    async throws
  {
    let journal = try await journal()
    try journal.execute(
      """
      UPDATE run SET outcome = json_object('origin', 'step', 'error',
        json_object('type', 'E', 'description', 'disk <full>' || char(10) || 'at line 7'))
      WHERE id = 'failed'
      """)
    _ = try await PageFixture.serving(journal) { page in
      let list = try await page.get("/?state=error").text
      #expect(list.contains(#"<span class="reason">disk &lt;full&gt;</span>"#))
      #expect(list.contains(#"data-label="Duration">0 ms</td>"#))
      let run = try await page.get("/run?id=failed", asJSON: true).json
      #expect(run["reason"] as? String == "disk <full>")
      let html = try await page.get("/run?id=failed").text
      #expect(html.contains("<dt>Failed step</dt><dd>ChargeCard (0)</dd>"))
    }
  }
}
