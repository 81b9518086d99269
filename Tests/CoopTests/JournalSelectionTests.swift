import DurableOperations
import RunPage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct JournalSelectionTests {
  /// A journal with three runs that have failed and a parked one.
  private func journal() async throws -> JournalFixture {
    let journal = try JournalFixture()
    for name in ["order-1", "order-2", "other"] { try await journal.startFailed(RunID(name)) }
    try await journal.startParked("order-parked")
    return journal
  }

  @Test func `A7: an action on a selection prints its number, and changes nothing unconfirmed`()
    async throws
  {
    let journal = try await journal()
    let asked = try await journal.run("retry", "--text", "ORDER", "--reason", "Declined")
    #expect(asked.status == 1 && asked.text == "")
    #expect(
      asked.error == "coop journal: 2 runs are selected, such as order-2; nothing is changed. "
        + "To retry, add --confirm 2\n")
    let wrong = try await journal.run("retry", "--text", "ORDER", "--confirm", "3")
    #expect(wrong.status == 1)
    #expect(
      wrong.error
        == "coop journal: 2 runs are selected now, and --confirm is 3; nothing is changed\n")
    let none = try await journal.run("cancel", "--reason", "disk")
    #expect(none.status == 1 && none.error == "coop journal: no run is selected\n")
    for name in ["order-1", "order-2", "other"] {
      #expect(try await journal.state(of: RunID(name)) == .error)
    }
    #expect(try await journal.state(of: "order-parked") == .parked)
  }

  @Test func `A7: a confirmed action is done for each selected run, and recorded with it`()
    async throws
  {
    let journal = try await journal()
    let retried = try await journal.run("retry", "--text", "order", "--confirm", "2")
    #expect(retried.status == 0 && retried.error == "coop journal: retry: done for 2 runs\n")
    #expect(try await journal.state(of: "order-1") == .ready)
    #expect(try await journal.state(of: "order-2") == .ready)
    #expect(try await journal.state(of: "other") == .error)
    #expect(try await journal.state(of: "order-parked") == .parked)
    #expect(try await journal.run("show", "order-2").text.contains("  retry at "))
    // Those that have not ended, and only those.
    let cancelled = try await journal.run(
      "cancel", "--flow", "Fulfilment", "--because", "a test", "--confirm", "3")
    #expect(cancelled.error == "coop journal: cancel: done for 3 runs\n")
    #expect(try await journal.state(of: "order-parked") == .cancelled)
    #expect(try await journal.state(of: "other") == .error)
    let listed = try await journal.run("list", "--reason", "A TEST", "--json")
    #expect(listed.text.split(separator: "\n").count == 3)
    let forgotten = try await journal.run("forget", "--state", "cancelled", "--confirm", "3")
    #expect(forgotten.error == "coop journal: forget: done for 3 runs\n")
    #expect(try await journal.store.runs().map(\.id) == ["other"])
  }

  @Test func `A7: a run for which an action fails is named, and the others are done`() async throws
  {
    let journal = try await journal()
    try journal.execute("UPDATE run SET state = 'running', owner = 99 WHERE id = 'order-1'")
    try journal.execute(
      """
      CREATE TRIGGER refusal BEFORE UPDATE ON run WHEN old.id = 'order-2'
      BEGIN SELECT raise(FAIL, 'the order is locked'); END
      """)
    let retried = try await journal.run("retry", "--state", "error", "--confirm", "2")
    #expect(retried.status == 1)
    #expect(retried.error.contains("coop journal: run order-2: "))
    #expect(retried.error.contains("the order is locked"))
    #expect(retried.error.hasSuffix("coop journal: retry: done for 1 run, failed for 1\n"))
    #expect(try await journal.state(of: "other") == .ready)
  }

  @Test func `A7: a run that is in another state by then is left alone`() async throws {
    let journal = try await journal()
    let selected = SelectedRuns(RunSelection(text: "order-"), for: .retry)
    let names = try await selected.names(in: journal.store)
    #expect(names == ["order-2", "order-1"])
    // Another person is faster, and has deleted a run, too.
    try await journal.store.retry("order-2")
    let report = await selected.act(on: names + ["gone"], in: journal.store) { run in
      try await journal.store.retry(run.id)
    }
    #expect("\(report)" == "done for 1 run, not needed any more for 2")
    #expect(try await journal.state(of: "order-1") == .ready)
  }

  @Test(arguments: [
    (["retry", "order-1", "--state", "error"], "expected either RUN or --flow, --reason, "),
    (["retry", "--state", "error", "--from", "1"], "expected either --from or --flow, "),
    (["forget", "--older-than", "7d", "--state", "error"], "expected either --older-than or "),
    (["cancel", "order-1", "--confirm", "1"], "--confirm without a selection; expected --flow, "),
    (
      ["cancel", "--state", "ready", "--confirm", "-1"], "invalid --confirm -1; expected the number"
    ),
    (["cancel"], "no RUN"), (["forget"], "expected either RUN, or --older-than AGE"),
  ])
  func `a selection together with something else is a usage error`(
    arguments: [String], message: String
  ) async throws {
    let journal = try JournalFixture()
    let refused = try await journal.program(arguments).run()
    #expect(refused.status == 64 && refused.error.contains(message), "\(refused.error)")
  }
}
