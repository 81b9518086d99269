import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ctrl-C from here on, and other signals that ask for an end: the first one asks the program to stop, the second one
/// stops it.
///
/// The signal handler writes a byte into a pipe, which is about all that it may do; a dispatch
/// source reads it. (A signal source of Dispatch loses signals on Linux: it wants them ignored, and
/// the kernel drops an ignored signal that no thread blocks.)
final class Interruption {
  private static let pipeEnd = Atomic<Int32>(-1)

  private let queue = DispatchQueue(label: "interruption")
  private let source: any DispatchSourceRead
  private let state = State()
  /// The signals that come here: those that whoever began this program wants ignored do not.
  private let caught: [Int32]

  /// What the signals have come to. Reached on the queue alone.
  private final class State: @unchecked Sendable {
    /// The first of them.
    var signal: Int32?
    var stop: (@Sendable () -> Void)?
    var force: (@Sendable () -> Void)?
  }

  /// - Parameter signals: What asks for an end.
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

  /// Has the signals end the program from here on, as if this had never been.
  func end() {
    for number in caught { signal(number, SIG_DFL) }
  }

  /// - Returns: Whether the signal comes here from now on.
  private static func catches(_ number: Int32) -> Bool {
    let before = signal(number) { number in
      var byte = UInt8(truncatingIfNeeded: number)
      unsafe write(Interruption.pipeEnd.load(ordering: .acquiring), &byte, 1)
    }
    // Whoever began this program wants it left alone: a shell does so for what runs behind, and nohup.
    let isIgnored =
      unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    if isIgnored { signal(number, SIG_IGN) }
    return !isIgnored
  }

  /// The first signal that came.
  var firstSignal: Int32? { queue.sync { state.signal } }

  /// Has something done at the first signal, at once if that has come already.
  ///
  /// - Parameter force: Is done at the second one, before the program ends.
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
