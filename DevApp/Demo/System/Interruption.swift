import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A handler for Ctrl-C and other termination signals. The first signal asks the program to stop,
/// and the second one ends it.
///
/// The signal handler writes a byte into a pipe, which is nearly all that it may do; a dispatch
/// source reads it. (A signal source of Dispatch loses signals on Linux: it requires that they are
/// ignored, and the kernel drops an ignored signal that no thread blocks.)
final class Interruption {
  private static let pipeEnd = Atomic<Int32>(-1)

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
    var force: (@Sendable () -> Void)?
  }

  /// - Parameter signals: The signals to handle.
  init(by signals: [Int32]) throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError.last }
    Self.pipeEnd.store(ends[1], ordering: .releasing)
    let end = ends[0]
    source = DispatchSource.makeReadSource(fileDescriptor: end, queue: queue)
    source.setEventHandler { [state] in
      var byte: UInt8 = 0
      guard unsafe read(end, &byte, 1) == 1 else { return }
      if state.signal != nil {
        state.force?()
        exit(ExitCode.signalled(by: Int32(byte)))
      }
      state.signal = Int32(byte)
      state.stop?()
    }
    source.activate()
    caught = signals.filter(Self.catches)
  }

  /// Restores the default action of the signals, so that they end the program.
  func end() {
    for number in caught { signal(number, SIG_DFL) }
  }

  /// - Returns: Whether the signal is handled from now on.
  private static func catches(_ number: Int32) -> Bool {
    let before = signal(number) { number in
      var byte = UInt8(truncatingIfNeeded: number)
      unsafe write(Interruption.pipeEnd.load(ordering: .acquiring), &byte, 1)
    }
    // Keeps signals ignored that the parent process ignores, as shells do for background jobs, and
    // nohup.
    let isIgnored =
      unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    if isIgnored { signal(number, SIG_IGN) }
    return !isIgnored
  }

  /// The first signal received.
  var firstSignal: Int32? { queue.sync { state.signal } }

  /// Sets the closure for the first signal. It is called at once if the signal has been received.
  ///
  /// - Parameter force: A closure for the second signal, called before the program exits.
  func setHandler(
    force: (@Sendable () -> Void)? = nil, _ stop: @escaping @Sendable () -> Void
  ) {
    queue.async { [state] in
      state.stop = stop
      state.force = force
      if state.signal != nil { stop() }
    }
  }
}
