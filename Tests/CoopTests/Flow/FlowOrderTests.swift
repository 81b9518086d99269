import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowOrderTests {
  @Test func `L1: a step begins when its needs have succeeded and its after steps have ended`()
    async throws
  {
    // A step fails if the file of a later one exists while it runs.
    func watch(_ file: String, _ count: Int) -> String {
      "for i in $(seq \(count)); do test ! -e \(file); sleep 0.01; done"
    }
    let flow = try FlowFixture(
      """
      "c": {"run": "touch c", "needs": ["a"], "after": ["b"]}, "d": {"run": "touch d", "needs": ["a"]},
      "a": {"run": "\(watch("d", 10))"}, "b": {"run": "\(watch("c", 30)); exit 3", "accept": [3]}
      """, head: #""width": 4,"#)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.exists("c") && flow.exists("d"))
    #expect(
      Set(printed.ends) == ["a: succeeded", "b: succeeded", "c: succeeded", "d: succeeded"])
  }

  @Test(arguments: [1, 2]) func `L1: the width limits how many commands run at once`(
    width: Int
  ) async throws {
    // A slot is a folder, and a command fails if it finds none.
    let slots = (1...width).map { "{ mkdir slot\($0) 2>>e && s=slot\($0); }" }
      .joined(separator: " || ")
    let command = "s=; \(slots) || exit 1; sleep 0.02; rmdir $s"
    let steps = (1...8).map { #""s\#($0)": {"run": "\#(command)"}"# }
    let flow = try FlowFixture(steps.joined(separator: ","), head: #""width": \#(width),"#)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.ends.count == 8)
  }

  @Test func `L1: steps that share a lock do not run at once`() async throws {
    let command = "mkdir busy; sleep 0.02; rmdir busy"
    let steps = (1...6).map { #""s\#($0)": {"run": "\#(command)", "locks": ["gpu"]}"# }
    let flow = try FlowFixture(steps.joined(separator: ","), head: #""width": 6,"#)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
  }

  @Test(arguments: [("", 1), (#", "locks": ["gpu"]"#, 2)])
  func `L1: a step holds neither a slot nor locks between two attempts`(
    locks: String, width: Int
  ) async throws {
    // Each of them succeeds when the other one has begun.
    let flow = try FlowFixture(
      """
      "a": {"run": "touch a; test -e b", "retries": 9, "backoff": "1ms"\(locks)},
      "b": {"run": "touch b; test -e a", "retries": 9, "backoff": "1ms"\(locks)}
      """, head: #""width": \#(width),"#)
    let printed = try await flow.run("--keep-going")
    #expect(printed.status == 0, "\(printed.error)")
  }

  @Test func `L1: a step that waits for a lock does not delay steps that do not need it`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "holds": {"run": "touch holds; while ! test -e last; do sleep 0.01; done", "locks": ["gpu"]},
      "held": {"run": "while ! test -e holds; do sleep 0.01; done"},
      "waits": {"run": "true", "needs": ["held"], "locks": ["gpu"]},
      "next": {"run": "true", "needs": ["held"]}, "last": {"run": "touch last", "needs": ["next"]}
      """, head: #""width": 3,"#)
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.ends.count == 5)
  }

  @Test func `L1: a step that failed or was skipped skips the steps that need it`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "exit 7"}, "b": {"run": "touch b", "needs": ["a"]},
      "c": {"run": "touch c", "only-if": "exit 1"}, "d": {"run": "touch d", "needs": ["c"]},
      "e": {"run": "touch e", "needs": ["d"]}, "g": {"run": "touch g", "after": ["d"]}
      """)
    let printed = try await flow.run("--keep-going")
    #expect(printed.status == 1)
    #expect(["b", "c", "d", "e"].allSatisfy { !flow.exists($0) })
    #expect(flow.exists("g"))
    #expect(
      Set(printed.ends) == [
        "a: failed, exit status 7", "c: skipped, only-if is not met", "g: succeeded",
      ])
    #expect(printed.error.contains("'f': 1 succeeded, 1 failed, 4 skipped"))
  }

  @Test func `L2: the first failure cancels the running steps, and only after steps begin`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "long": {"run": "touch long; exec sleep 3600"},
      "bad": {"run": "while ! test -e long; do sleep 0.01; done; exit 1"},
      "other": {"run": "touch other", "needs": ["waits"]},
      "waits": {"run": "touch waits", "after": ["bad"]},
      "needs": {"run": "touch needs", "needs": ["long"]},
      "notify": {"run": "touch notify", "after": ["long", "bad"]}
      """, head: #""width": 4,"#)
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(flow.exists("waits") && flow.exists("notify"))
    #expect(!flow.exists("other") && !flow.exists("needs"))
    #expect(
      Set(printed.ends) == [
        "long: cancelled", "bad: failed, exit status 1", "waits: succeeded", "notify: succeeded",
      ])
  }

  @Test func `L2: the first failure ends the wait for a retry or a lock`() async throws {
    let flow = try FlowFixture(
      """
      "again": {"run": "touch again; exit 1", "retries": 1, "backoff": "10h"},
      "holds": {"run": "touch holds; exec sleep 3600", "locks": ["gpu"]},
      "held": {"run": "while ! test -e again -a -e holds; do sleep 0.01; done"},
      "lock": {"run": "touch lock", "needs": ["held"], "locks": ["gpu"]},
      "bad": {"run": "exit 1", "needs": ["held"]}
      """, head: #""width": 4,"#)
    let printed = try await flow.run()
    #expect(printed.status == 1, "\(printed.error)")
    #expect(!flow.exists("lock"))
    #expect(printed.ends.contains("again: cancelled"))
    #expect(printed.ends.contains("holds: cancelled"))
    #expect(printed.ends.contains("bad: failed, exit status 1"))
  }

  @Test func `L2: --keep-going runs every step that can run`() async throws {
    let flow = try FlowFixture(
      """
      "bad": {"run": "exit 1"}, "slow": {"run": "sleep 0.05; touch slow"},
      "next": {"run": "touch next", "needs": ["slow"]}
      """)
    let printed = try await flow.run("--keep-going")
    #expect(printed.status == 1)
    #expect(flow.exists("slow") && flow.exists("next"))
  }

  @Test(arguments: terminationSignals)
  func `L2: a signal terminates the commands, and the exit status shows it`(
    signal: Int32
  ) async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "trap 'touch ended; exit 1' TERM; touch began; while :; do sleep 0.01; done"}
      """)
    let began = flow.folder.path + "/began"
    let printed = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: began) }
      kill(process, signal)
    }
    #expect(printed.status == 128 + signal)
    #expect(flow.exists("ended"))
    #expect(
      printed.error.contains("coop flow: interrupted; the same command resumes run 1"),
      "\(printed.error)")
  }
}
