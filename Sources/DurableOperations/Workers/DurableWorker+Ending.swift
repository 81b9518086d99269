public import CompositeOperations
internal import Dispatch
internal import SystemSupport

extension DurableWorker {
  /// A signal by which a process is asked to end.
  public struct Signal: Hashable, Sendable {
    let number: Int32

    /// SIGTERM, which supervisors such as systemd and Kubernetes send.
    public static let terminate = Signal(number: SystemSignal.terminate)
    /// SIGINT, as by Ctrl-C.
    public static let interrupt = Signal(number: SystemSignal.interrupt)
    /// SIGHUP, as when the terminal closes.
    public static let hangUp = Signal(number: SystemSignal.hangUp)
  }

  /// Runs runs until the process receives a signal, and ends without the loss of work.
  ///
  /// ```swift
  /// import DurableOperations
  ///
  /// let worker = DurableWorker(in: .sqlite("flows.sqlite"), running: [Fulfilment.self])
  /// await worker.run(endingOn: [.terminate, .interrupt], draining: .seconds(30))
  /// ```
  ///
  /// After the signal, the worker claims no more runs, and its runs begin no more steps. Steps in progress may end
  /// for a while; then they are cancelled. Each run that has not ended is released, so that the next worker
  /// continues it at once. That counts neither as an attempt nor as the end of a process. A second signal cancels
  /// the steps at once.
  ///
  /// The signals have their default effect when the call returns, unless another run of the process handles them.
  ///
  /// - Parameters:
  ///   - signals: The signals. A signal that the parent process ignores, such as by `nohup`, has no effect.
  ///   - limit: How long steps in progress may take. Set the limit of the supervisor (`TimeoutStopSec` of systemd,
  ///     `terminationGracePeriodSeconds` of Kubernetes) to a longer time.
  ///   - environment: The observers of the worker and of its runs, such as one that writes their log, and the clock.
  /// - Returns: A result after a signal; a cancellation if the task was cancelled; an error of the store.
  @discardableResult
  public func run(
    endingOn signals: Set<Signal> = [.terminate, .interrupt],
    draining limit: Duration = .seconds(30),
    in environment: OperationEnvironment = OperationEnvironment()
  ) async -> Outcome<Void> {
    let worker = withEnd
    let received = SignalCount()
    let started = Lock<OperationRun<Void>?>(nil)
    let handler: ReceivedSignals
    do {
      // Before the worker begins: a signal would end the process.
      handler = try ReceivedSignals(signals.map(\.number)) { _ in
        if received.next() > 1 {
          // Cancellation handlers may block, and must not delay other signals.
          DispatchQueue.global().async { started.withLock(\.self)?.cancel() }
          return
        }
        worker.beginEnd()
        DispatchQueue.global().asyncAfter(
          deadline: .now() + .milliseconds(Int(clamping: limit.roundedUpMilliseconds))
        ) { started.withLock(\.self)?.cancel() }
      }
    } catch { return .error(error) }
    defer { handler.end() }
    let run = worker.start(in: environment)
    started.withLock { $0 = run }
    if received.count > 1 { run.cancel() }
    let outcome = await withTaskCancellationHandler {
      await run.outcome
    } onCancel: {
      run.cancel()
    }
    return outcome.isCancelled && received.count > 0 ? .result(()) : outcome
  }
}

/// The number of signals that a worker has received.
private final class SignalCount: Sendable {
  private let value = Lock(0)

  var count: Int { value.withLock { $0 } }

  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
