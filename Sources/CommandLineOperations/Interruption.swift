import Dispatch
import SystemSupport

/// A handler for Ctrl-C and other termination signals. The first signal asks the program to stop,
/// and the second one ends it. Ctrl-Z also stops the child processes.
///
/// The signals arrive through a pipe, which a dispatch source reads. (A signal source of Dispatch
/// loses signals on Linux: it requires that they are ignored, and the kernel drops an ignored signal
/// that no thread blocks.)
final class Interruption {
  private let queue = DispatchQueue(label: "interruption")
  private let source: any DispatchSourceRead
  private let state = State()
  /// The handled signals, without those that the parent process set to be ignored.
  private let caught: [Int32]

  /// The signals received and the closures to call. Used only on the queue.
  private final class State: @unchecked Sendable {
    /// The first signal received.
    var signal: Int32?
    var stop: (@Sendable () -> Void)?
    var onSecondSignal: (@Sendable () -> Void)?
  }

  /// - Parameters:
  ///   - signals: The signals to handle.
  ///   - passOn: Sends a signal to the child processes; nil not to handle SIGQUIT and SIGTSTP.
  init(
    by signals: [Int32], passingOn passOn: (@Sendable (Int32) -> Void)? = nil
  ) throws(SystemError) {
    // It stays open: a signal handler that another thread runs may write to it later.
    let pipe = try FileDescriptor.pipe()
    source = DispatchSource.makeReadSource(fileDescriptor: pipe.reader.rawValue, queue: queue)
    source.setEventHandler { [state] in
      var received: [UInt8] = [0]
      guard (try? pipe.reader.read(into: &received)) == 1 else { return }
      let signal = Int32(received[0])
      if signal == SystemSignal.suspend {
        passOn?(SystemSignal.stop)
        SystemProcess.suspend()
        passOn?(SystemSignal.continue)
        return
      }
      if state.signal != nil {
        state.onSecondSignal?()
        passOn?(SystemSignal.kill)
        SystemProcess.exit(ExitStatus.signalled(by: signal))
      }
      state.signal = signal
      if signal == SystemSignal.quit { passOn?(signal) }
      state.stop?()
    }
    source.activate()
    let passedOn = passOn == nil ? [] : [SystemSignal.quit, SystemSignal.suspend]
    caught = SystemSignal.forward(signals + passedOn, to: pipe.writer)
  }

  /// Restores the default action of the signals, so that they end the program.
  func end() {
    for signal in caught { SystemSignal.restoreDefault(signal) }
  }

  /// The first signal received.
  var firstSignal: Int32? { queue.sync { state.signal } }

  /// Sets the closure for the first signal. It is called at once if the signal has been received.
  ///
  /// - Parameter onSecondSignal: A closure for the second signal, called before the program exits.
  func setHandler(
    onSecondSignal: (@Sendable () -> Void)? = nil, _ stop: @escaping @Sendable () -> Void
  ) {
    queue.async { [state] in
      state.stop = stop
      state.onSecondSignal = onSecondSignal
      if state.signal != nil { stop() }
    }
  }
}
