public import CompositeOperations
import SystemSupport

/// A finished run of an operation as the work of a command-line program, which signals can cancel.
///
/// ```swift
/// import CommandLineOperations
/// func count(_ flow: some ComposableOperation<Int>, _ options: TraceOptions) async throws -> Int32 {
///   let observation = try ProgramObservation(options, progressOn: StandardError())
///   let run = try await ProgramRun(of: flow, observedBy: observation)
///   try observation.end()
///   switch run.outcome {
///   case .result(let count): try StandardOutput().write("\(count)\n")
///   case .error(let error): throw error
///   case .cancelled: return run.interruptedStatus
///   }
///   return ExitStatus.success
/// }
/// ```
public struct ProgramRun<Success: Sendable>: Sendable {
  /// How the run ended.
  public let outcome: Outcome<Success>
  /// The value or the error with which the operation ended after a cancellation, as in
  /// `OperationRun.lateOutcome`; nil if there is none, or if the end was not awaited.
  public let lateOutcome: Outcome<Success>?
  /// The time from the start to the outcome.
  public let duration: Duration
  private let signal: Int32?

  /// Whether Ctrl-C, SIGTERM, SIGHUP or a passed-on SIGQUIT arrived during the run. The outcome is still a result or an error
  /// if the signal arrived after it.
  public var wasInterrupted: Bool { signal != nil }

  /// The exit status of a program whose run was cancelled: 128 and the number of the signal, as in
  /// shells.
  public var interruptedStatus: Int32 {
    ExitStatus.signalled(by: signal ?? SystemSignal.interrupt)
  }

  /// Runs an operation to its end. Ctrl-C, SIGTERM and SIGHUP cancel it.
  ///
  /// A second signal ends the process at once, with the status of the signal. Signals that the parent
  /// process has set to be ignored, as `nohup` does, stay ignored. After the run, the signals have
  /// their default action again, so that output which blocks can be interrupted.
  ///
  /// - Parameters:
  ///   - operation: The work of the program.
  ///   - observation: The trace files and the progress display of the run. The display is removed
  ///     at the end of the run; the files are written by ``ProgramObservation/end()``.
  ///   - awaitsEnd: Whether to wait after a cancellation until the body has ended, and not only until
  ///     the outcome is decided.
  ///   - onSecondSignal: A closure that is called at the second signal, before the process exits, such
  ///     as one that kills child processes. It must not block.
  ///   - passOn: A closure that sends a signal to the child processes that the operation runs. With
  ///     it, Ctrl-\\ sends them SIGQUIT and then cancels the run, and Ctrl-Z sends them SIGSTOP before
  ///     this process stops, and SIGCONT when it continues. At the second signal, they receive
  ///     SIGKILL. Without it, Ctrl-\\ and Ctrl-Z affect only this process. It must not block.
  /// - Throws: An error of the system if no pipe can be created. An error of the operation is in
  ///   ``outcome``.
  public init(
    of operation: some ComposableOperation<Success>, observedBy observation: ProgramObservation,
    awaitsEnd: Bool = false, onSecondSignal: (@Sendable () -> Void)? = nil,
    passingOn passOn: (@Sendable (Int32) -> Void)? = nil
  ) async throws {
    let start = ContinuousClock.now
    let interruption = try Interruption(
      by: [SystemSignal.interrupt, SystemSignal.terminate, SystemSignal.hangUp], passingOn: passOn)
    let run = operation.start(in: observation.environment)
    interruption.setHandler(onSecondSignal: onSecondSignal) { run.cancel(because: "interrupted") }
    outcome = await run.outcome
    duration = ContinuousClock.now - start
    lateOutcome = awaitsEnd ? await run.lateOutcome : nil
    signal = interruption.firstSignal
    // Only output is left, which can block. From here on, a signal ends the program.
    interruption.end()
    observation.endProgress()
  }
}
