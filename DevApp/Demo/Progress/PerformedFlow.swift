import CompositeOperations

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A flow that a command has performed: how it ended, and after which time and signal.
struct PerformedFlow<Value: Sendable> {
  let outcome: Outcome<Value>
  /// What it came to behind a cancellation, if its end was waited for.
  let late: Outcome<Value>?
  let duration: Duration
  private let signal: Int32?

  /// The exit status of a flow that was cancelled.
  var interruptedStatus: Int32 { ExitCode.signalled(by: signal ?? SIGINT) }

  /// Performs a flow, which Ctrl-C, SIGTERM and SIGHUP cancel.
  ///
  /// - Parameters:
  ///   - flow: What the command is there for.
  ///   - observation: Who sees it.
  ///   - waitsForEnd: Whether what a cancellation leaves behind is waited for, too.
  ///   - force: Is done at the second of the signals, before the program ends.
  init(
    of flow: some ComposableOperation<Value>, seenBy observation: FlowObservation,
    waitsForEnd: Bool = false, force: (@Sendable () -> Void)? = nil
  ) async throws {
    let start = ContinuousClock.now
    let interruption = try Interruption(by: [SIGINT, SIGTERM, SIGHUP])
    let run = flow.start(in: observation.environment)
    interruption.setHandler(force: force) { run.cancel(because: "interrupted") }
    outcome = await run.outcome
    duration = ContinuousClock.now - start
    late = waitsForEnd ? await run.late : nil
    signal = interruption.firstSignal
    // What is left is to write, which somebody may keep waiting.
    interruption.end()
    observation.endProgress()
  }
}
