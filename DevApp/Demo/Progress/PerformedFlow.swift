import CompositeOperations
import SystemSupport

/// A flow that a command has run: its outcome, its duration and the first signal.
struct PerformedFlow<Value: Sendable> {
  let outcome: Outcome<Value>
  /// The late outcome after a cancellation, if the end was awaited.
  let late: Outcome<Value>?
  let duration: Duration
  private let signal: Int32?

  /// Whether a signal has cancelled the flow.
  var wasInterrupted: Bool { signal != nil }

  /// The exit status of a flow that was cancelled.
  var interruptedStatus: Int32 { ExitCode.signalled(by: signal ?? SystemSignal.interrupt) }

  /// Runs a flow. Ctrl-C, SIGTERM and SIGHUP cancel it.
  ///
  /// - Parameters:
  ///   - flow: The flow of the command.
  ///   - observation: The observation of the flow.
  ///   - waitsForEnd: Whether to await the late outcome after a cancellation.
  ///   - force: A closure that is called at the second signal, before the program exits.
  init(
    of flow: some ComposableOperation<Value>, seenBy observation: FlowObservation,
    waitsForEnd: Bool = false, force: (@Sendable () -> Void)? = nil
  ) async throws {
    let start = ContinuousClock.now
    let interruption = try Interruption(by: [
      SystemSignal.interrupt, SystemSignal.terminate, SystemSignal.hangUp,
    ])
    let run = flow.start(in: observation.environment)
    interruption.setHandler(force: force) { run.cancel(because: "interrupted") }
    outcome = await run.outcome
    duration = ContinuousClock.now - start
    late = waitsForEnd ? await run.lateOutcome : nil
    signal = interruption.firstSignal
    // Only output is left, which can block. From here on, a signal ends the program.
    interruption.end()
    observation.endProgress()
  }
}
