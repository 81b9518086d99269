import Dispatch
import SystemSupport

/// A handler for Ctrl-C and other termination signals. The first signal asks the program to stop,
/// and the second one ends it. Ctrl-Z also stops the child processes.
final class Interruption {
  private let signals: ReceivedSignals
  private let state = State()

  /// The signals received and the closures to call. Used only on the queue of the signals.
  private final class State: @unchecked Sendable {
    /// The first signal received.
    var signal: Int32?
    var stop: (@Sendable () -> Void)?
    var onSecondSignal: (@Sendable () -> Void)?

    /// Cancellation handlers may block, and must not delay the second signal.
    func requestStop() { if let stop { DispatchQueue.global().async(execute: stop) } }
  }

  /// - Parameters:
  ///   - signals: The signals to handle.
  ///   - passOn: Sends a signal to the child processes; nil not to handle SIGQUIT and SIGTSTP.
  init(
    by signals: [Int32], passingOn passOn: (@Sendable (Int32) -> Void)? = nil
  ) throws(SystemError) {
    let passedOn = passOn == nil ? [] : [SystemSignal.quit, SystemSignal.suspend]
    self.signals = try ReceivedSignals(signals + passedOn) { [state] signal in
      if signal == SystemSignal.suspend {
        passOn?(SystemSignal.stop)
        SystemProcess.suspend()
        passOn?(SystemSignal.continue)
        return
      }
      if state.signal != nil {
        state.onSecondSignal?()
        passOn?(SystemSignal.kill)
        SystemProcess.exitAtOnce(ExitStatus.signalled(by: signal))
      }
      state.signal = signal
      if signal == SystemSignal.quit { passOn?(signal) }
      state.requestStop()
    }
  }

  /// Restores the default action of the signals, so that they end the program.
  func end() { signals.end() }

  /// The first signal received.
  var firstSignal: Int32? { ReceivedSignals.queue.sync { state.signal } }

  /// Sets the closure for the first signal. It is called at once if the signal has been received.
  ///
  /// - Parameter onSecondSignal: A closure for the second signal, called before the program exits.
  func setHandler(
    onSecondSignal: (@Sendable () -> Void)? = nil, _ stop: @escaping @Sendable () -> Void
  ) {
    ReceivedSignals.queue.async { [state] in
      state.stop = stop
      state.onSecondSignal = onSecondSignal
      if state.signal != nil { state.requestStop() }
    }
  }
}
