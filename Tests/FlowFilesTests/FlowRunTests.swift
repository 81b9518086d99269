import CompositeOperations
import CompositeOperationsFoundation
import FlowFiles
import Foundation
import TestSupport
import Testing

/// Flow files that a Swift program runs. Each test has a process of its own, which becomes the parent of
/// descendants whose parent has ended.
@Suite(.timeLimit(.minutes(10))) struct FlowRunTests {
  @Test func `a program runs a flow file, and asks what a run would do`() async {
    await #expect(processExitsWith: .success) { try await FlowPrograms().runAndDryRun() }
  }

  @Test func `the error of a run has the report and the messages`() async {
    await #expect(processExitsWith: .success) { try await FlowPrograms().failure() }
  }

  @Test func `a run that is cancelled terminates its commands, and the next one continues`() async {
    await #expect(processExitsWith: .success) { try await FlowPrograms().cancellation() }
  }

  @Test func `signals are passed on to the commands of a run`() async {
    await #expect(processExitsWith: .success) { try await FlowPrograms().signals() }
  }

  @Test func `L8: a flow does not end the commands of another one in the same process`() async {
    await #expect(processExitsWith: .success) { try await FlowPrograms().twoFlows() }
  }
}

/// The bodies of the tests.
private struct FlowPrograms {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func file(_ steps: String, setting texts: [String: String] = [:]) throws -> FlowFile {
    try folder.write(
      #"{"flow": "f", "values": {"v": "1"}, "steps": {\#(steps)}}"#, to: "f.json")
    return try FlowFile(contentsOf: folder["f.json"].path, setting: texts)
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder[name].path)
  }

  func runAndDryRun() async throws {
    let file = try file(
      #""a": {"run": "echo $v > a", "outputs": ["a"]}, "b": {"run": "cat a", "needs": ["a"]}"#,
      setting: ["v": "2"])
    #expect(file.stepNames == ["a", "b"])
    let state = FlowState(of: file)
    #expect(try await state.lastRun() == nil)
    #expect(try await state.dryRun().steps.map(\.name) == ["a", "b"])
    let events = Lock<[String]>([])
    let run = FlowRun(of: file) { event in
      events.withLock { $0.append("\(event.kind)".prefix { $0 != "(" }.description) }
    }
    let report = try await run.run().get()
    #expect(report.flow == "f" && report.run == 1 && report.state == .succeeded)
    #expect(report.ends.map { "\($0.unit) \($0.state)" } == ["a succeeded", "b succeeded"])
    let ends = ["stepBegan", "stepEnded", "stepBegan", "stepEnded", "message", "runEnded"]
    #expect(events.withLock(\.self) == ["runBegan"] + ends)
    #expect(String(decoding: try await state.log(of: "b"), as: UTF8.self).hasSuffix("\n2\n"))
    let dryRun = try await state.dryRun()
    #expect(dryRun.steps.map { "\($0.name): \($0.reason)" } == ["b: it has no outputs"])
    #expect(dryRun.currentCount == 1)
    #expect(try await state.lastRun()?.end(of: "a")?.state == .succeeded)
    // The same value runs again.
    #expect(try await run.run().get().end(of: "a")?.state == .upToDate)
  }

  func failure() async throws {
    let file = try file(#""a": {"run": "echo why; exit 3"}, "b": {"run": ":", "needs": ["a"]}"#)
    guard case .error(let error as FlowRunError) = await FlowRun(of: file).run() else {
      return #expect(Bool(false), "expected a FlowRunError")
    }
    #expect(error.report.state == .failed)
    #expect(error.report.end(of: "a")?.reason == "exit status 3")
    #expect(error.report.end(of: "a")?.lastLines == ["why"])
    #expect(error.report.end(of: "b")?.state == .skipped)
    #expect(error.description.hasPrefix("step 'a' failed: exit status 3 after 1 attempt ("))
    #expect(try await FlowState(of: file).lastRun()?.state == .failed)
    var options = FlowRunOptions()
    options.selection.targets = ["c"]
    let unknown = await FlowRun(of: file, with: options).run()
    #expect("\(unknown)".contains("unknown step 'c'"), "\(unknown)")
  }

  func cancellation() async throws {
    let file = try file(
      """
      "a": {"run": "echo a >> log"}, "b": {"needs": ["a"], "run":
        "trap 'touch told' TERM; touch began; test -e go || { sleep 60 & wait; exit 1; }"}
      """)
    let run = FlowRun(of: file).start()
    try await eventually { exists("began") }
    // Meanwhile, the same process cannot run it a second time.
    guard case .error(let error) = await FlowRun(of: file).run() else {
      return #expect(Bool(false), "expected an error")
    }
    #expect(error is FlowLockedError, "\(error)")
    #expect(try await FlowState(of: file).lastRun()?.state == .running)
    run.cancel()
    guard case .cancelled = await run.outcome else {
      return #expect(Bool(false), "expected a cancellation")
    }
    _ = await run.lateOutcome
    #expect(exists("told"))
    #expect(try await FlowState(of: file).lastRun()?.state == .interrupted)
    try folder.write("", to: "go")
    let report = try await FlowRun(of: file).run().get()
    #expect(report.run == 1)
    #expect(report.ends.map { "\($0.unit) \($0.state)" } == ["a done", "b succeeded"])
    #expect(try String(contentsOf: folder["log"], encoding: .utf8) == "a\n")
  }

  func signals() async throws {
    let file = try file(
      #""a": {"run": "trap 'touch told; exit' USR1; touch began; sleep 60 & wait"}"#)
    let operation = FlowRun(of: file)
    let run = operation.start()
    try await eventually { exists("began") }
    operation.send(.user1)
    _ = await run.outcome
    #expect(exists("told"))
  }

  func twoFlows() async throws {
    let other = try TemporaryFolder()
    try other.write(
      """
      {"flow": "g", "steps": {"a": {"run": "exit 1"}, "b": {
        "run": "touch began; sleep 60", "after": ["a"]}}}
      """, to: "g.json")
    let failing = FlowRun(of: try FlowFile(contentsOf: other["g.json"].path)).start()
    try await eventually { FileManager.default.fileExists(atPath: other["began"].path) }
    let waiting = FlowRun(
      of: try file(#""a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}"#)
    ).start()
    try await eventually { exists("began") }
    failing.cancel()
    _ = await failing.lateOutcome
    try folder.write("", to: "go")
    #expect(try await waiting.outcome.get().state == .succeeded)
  }
}
