public import CompositeOperations
import SystemSupport

/// A finished run of an operation as the work of a command-line program, which signals can cancel.
///
/// ```swift
/// let observation = try ProgramObservation(options, progressOn: StandardError())
/// let run = try await ProgramRun(of: flow, observedBy: observation)
/// switch run.outcome {
/// case .result(let value): print(value)
/// case .error(let error): throw error
/// case .cancelled: return run.interruptedStatus
/// }
/// try observation.end()
/// ```
public struct ProgramRun<Success: Sendable>: Sendable {
  /// How the run has ended.
  public let outcome: Outcome<Success>
  /// The late outcome after a cancellation, if the end was awaited.
  public let lateOutcome: Outcome<Success>?
  /// The time from the start to the outcome.
  public let duration: Duration
  private let signal: Int32?

  /// Whether a signal has cancelled the run.
  public var wasInterrupted: Bool { signal != nil }

  /// The exit status of a program whose run was cancelled: 128 and the number of the signal, as in
  /// shells.
  public var interruptedStatus: Int32 {
    ExitCode.signalled(by: signal ?? SystemSignal.interrupt)
  }

  /// Runs an operation. Ctrl-C, SIGTERM and SIGHUP cancel it.
  ///
  /// A second signal ends the process at once, with the status of the signal. Signals that the
  /// parent process has set to be ignored stay ignored. After the run, the signals have their
  /// default action again, so that output which blocks can be interrupted. Only one run of a process
  /// at a time may handle the signals.
  ///
  /// - Parameters:
  ///   - operation: The work of the program.
  ///   - observation: The trace files and the progress display of the run.
  ///   - awaitsEnd: Whether to await the late outcome after a cancellation.
  ///   - force: A closure that is called at the second signal, before the process exits.
  /// - Throws: An error of the system if no pipe can be created.
  public init(
    of operation: some ComposableOperation<Success>, observedBy observation: ProgramObservation,
    awaitsEnd: Bool = false, force: (@Sendable () -> Void)? = nil
  ) async throws {
    let start = ContinuousClock.now
    let interruption = try Interruption(by: [
      SystemSignal.interrupt, SystemSignal.terminate, SystemSignal.hangUp,
    ])
    let run = operation.start(in: observation.environment)
    interruption.setHandler(force: force) { run.cancel(because: "interrupted") }
    outcome = await run.outcome
    duration = ContinuousClock.now - start
    lateOutcome = awaitsEnd ? await run.lateOutcome : nil
    signal = interruption.firstSignal
    // Only output is left, which can block. From here on, a signal ends the program.
    interruption.end()
    observation.endProgress()
  }
}
