import CommandLineOperations
import CompositeOperations
import Foundation
import OperationTracing
import SystemSupport
import TestSupport
import Testing

// Serialized, because only one run of a process at a time may handle the signals.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProgramRunTests {
  private struct Failure: Error {}

  @Test func `a run has the outcome of its operation`() async throws {
    let good = try await ProgramRun(
      of: SimpleOperation { 42 }, observedBy: ProgramObservation(TraceOptions()))
    #expect(good.outcome.result == 42)
    #expect(!good.wasInterrupted)
    #expect(good.lateOutcome == nil)
    #expect(good.duration > .zero)
    let bad = try await ProgramRun(
      of: SimpleOperation<Int> { throw Failure() },
      observedBy: ProgramObservation(TraceOptions()), awaitsEnd: true)
    #expect(bad.outcome.error is Failure)
    #expect(bad.lateOutcome == nil)
  }

  @Test(arguments: terminationSignals)
  func `a signal cancels the run, and its number is the status`(signal: Int32) async throws {
    // A shell sets it to be ignored by programs in the background, and this could be one.
    SystemSignal.restoreDefault(signal)
    let waits = SimpleOperation.withContext { context in
      try SystemProcess.send(signal, to: getpid())
      do {
        try await context.clock.sleep(for: .seconds(600))
      } catch {
        throw Failure()
      }
    }
    for awaitsEnd in [true, false] {
      let run = try await ProgramRun(
        of: waits, observedBy: ProgramObservation(TraceOptions()), awaitsEnd: awaitsEnd)
      guard case .cancelled = run.outcome else {
        Issue.record("the outcome is \(run.outcome)")
        return
      }
      #expect(run.wasInterrupted)
      #expect(run.interruptedStatus == 128 + signal)
      #expect((run.lateOutcome?.error is Failure) == awaitsEnd)
    }
  }

  @Test func `a second signal ends the process, also if a cancellation handler blocks`() async {
    await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
      SystemSignal.restoreDefault(SIGTERM)
      let blocks = SimpleOperation {
        await withTaskCancellationHandler {
          kill(getpid(), SIGTERM)
          while true { try? await Task.sleep(for: .seconds(600)) }
        } onCancel: {
          kill(getpid(), SIGTERM)
          while true { sleep(600) }
        }
      }
      _ = try await ProgramRun(of: blocks, observedBy: ProgramObservation(TraceOptions()))
    }
  }

  @Test func `the display is on standard error, and is removed`() async throws {
    // Not a terminal, so it has a line every five seconds, and none in a short run.
    let stream = try CapturedStream()
    let observation = try ProgramObservation(
      TraceOptions(), progressOn: StandardError(stream.descriptor))
    _ = try await ProgramRun(of: SimpleOperation { 42 }, observedBy: observation)
    try observation.end()
    #expect(try stream.text == "")
  }

  @Test(arguments: [
    ("trace.json", "work"), ("trace.txt", "work"), ("trace.otlp.json", "resourceSpans"),
  ])
  func `the trace has the runs of the operation`(name: String, mark: String) async throws {
    let folder = try TemporaryFolder()
    let observation = try ProgramObservation(options("--trace", folder[name]))
    _ = try await ProgramRun(of: SimpleOperation { 42 }.named("work"), observedBy: observation)
    try observation.end()
    #expect(try String(contentsOf: folder[name], encoding: .utf8).contains(mark))
  }

  @Test(arguments: ["--trace", "--timeline"])
  func `a file that cannot be written is an error before the work`(option: String) throws {
    let folder = try TemporaryFolder()
    for name in ["missing/trace.svg", "missing/trace.html"] {
      #expect(throws: TraceFileError.self) {
        try ProgramObservation(options(option, folder[name]))
      }
    }
  }

  private func options(_ option: String, _ file: URL) throws -> TraceOptions {
    var options = TraceOptions()
    var rest: ArraySlice<RawPath> = [RawPath(file.path)]
    #expect(try options.take(RawPath(option), from: &rest, for: "test"))
    return options
  }
}
