public import CompositeOperations
internal import Dispatch
internal import SystemSupport

/// A finished run that signals of this process could cancel.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let run = try await sync.run(cancelledBy: .endingSignals)
/// if let status = run.interruptedStatus { exit(status) }
/// let issues = try run.outcome.get()
/// print(issues.count, "issues")
/// ```
public struct SignalledRun<Success: Sendable>: Sendable {
  /// How the run ended. It is still a result or an error if the signal arrived after it.
  public let outcome: Outcome<Success>
  /// The first signal that arrived during the run; nil if none did.
  public let signal: ProcessSignal?

  /// The exit status of a program whose run a signal has cancelled: 128 and the number of the
  /// signal, as in shells; nil if no signal has cancelled the run.
  public var interruptedStatus: Int32? {
    outcome.isCancelled ? signal.map { 128 + $0.rawValue } : nil
  }
}

extension ComposableOperation {
  /// Runs the operation to its end. Signals of this process cancel the run.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let encode = ProcessOperation("ffmpeg", "-i", "in.mov", "out.mp4")
  /// let run = try await encode.run(cancelledBy: .endingSignals)
  /// exit(run.interruptedStatus ?? (run.outcome.error == nil ? 0 : 1))
  /// ```
  ///
  /// The first signal cancels the run, and the call returns when the body has ended: programs have
  /// got their SIGTERM, and files are closed. A second signal sends SIGKILL to the programs of all
  /// ``ProcessOperation``s, with their groups, and ends this process at once, with the status 128
  /// and the number of that signal, and without the handlers of `atexit`. A cancellation of the
  /// calling task cancels the run, too.
  ///
  /// A signal that the parent process has set to be ignored, as `nohup` does, stays ignored. After
  /// the call, the signals have their default action again, unless another run handles them.
  /// Several runs may handle the same signals at the same time. Code that handles them in another
  /// way, such as with `signal` or `sigaction`, does not receive them during the run.
  ///
  /// - Parameters:
  ///   - signals: The signals.
  ///   - environment: The environment of the run.
  /// - Returns: The outcome, and the first signal.
  /// - Throws: ``SignalHandlingError`` if the system denies what the handling of signals needs. An
  ///   error of the operation is in the outcome.
  public func run(
    cancelledBy signals: Set<ProcessSignal>, in environment: OperationEnvironment = .init()
  ) async throws -> SignalledRun<Success> {
    let state = Lock<(first: ProcessSignal?, run: OperationRun<Success>?)>((nil, nil))
    let received: ReceivedSignals
    do throws(SystemError) {
      // Before the run: a signal would end the process.
      received = try ReceivedSignals(signals.map(\.rawValue)) { number in
        let signal = ProcessSignal(rawValue: number)
        let (isFirst, run) = state.withLock { state in
          defer { state.first = state.first ?? signal }
          return (state.first == nil, state.run)
        }
        if isFirst {
          // Cancellation handlers may block, and must not delay the second signal.
          DispatchQueue.global().async { run?.cancel(because: "signal \(signal)") }
        } else {
          AdoptedProcesses.killPrograms()
          SystemProcess.exitAtOnce(128 + number)
        }
      }
    } catch { throw SignalHandlingError(reason: "\(error)") }
    let run = start(in: environment)
    let earlier = state.withLock { state in
      state.run = run
      return state.first
    }
    if let earlier { run.cancel(because: "signal \(earlier)") }
    return await withTaskCancellationHandler {
      let outcome = await run.outcome
      _ = await run.lateOutcome
      // A signal may arrive until then.
      received.end()
      return SignalledRun(outcome: outcome, signal: state.withLock(\.first))
    } onCancel: {
      run.cancel()
    }
  }
}

extension Set<ProcessSignal> {
  /// The signals by which a program is asked to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
  public static var endingSignals: Set<ProcessSignal> { [.interrupt, .terminate, .hangUp] }
}
