import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ctrl-C from here on: the first one asks the program to stop, the second one stops it.
///
/// The signal handler writes a byte into a pipe, which is about all that it may do; a dispatch
/// source reads it. (A signal source of Dispatch loses signals on Linux: it wants them ignored, and
/// the kernel drops an ignored signal that no thread blocks.)
final class Interruption {
  private static let pipeEnd = Atomic<Int32>(-1)

  private let queue = DispatchQueue(label: "interruption")
  private let source: any DispatchSourceRead
  private let state = State()

  /// What the signals have come to. Reached on the queue alone.
  private final class State: @unchecked Sendable {
    var count = 0
    var stop: (@Sendable () -> Void)?
  }

  init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError.last }
    Self.pipeEnd.store(ends[1], ordering: .releasing)
    let end = ends[0]
    source = DispatchSource.makeReadSource(fileDescriptor: end, queue: queue)
    source.setEventHandler { [state] in
      var byte: UInt8 = 0
      guard unsafe read(end, &byte, 1) == 1 else { return }
      state.count += 1
      if state.count > 1 { exit(ExitCode.interrupted) }
      state.stop?()
    }
    source.activate()
    let before = signal(SIGINT) { _ in
      var byte: UInt8 = 1
      unsafe write(Interruption.pipeEnd.load(ordering: .acquiring), &byte, 1)
    }
    // Whoever began this program wants it left alone: a shell does so for what runs behind.
    if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      signal(SIGINT, SIG_IGN)
    }
  }

  /// Has something done at the first Ctrl-C, at once if that has come already.
  func setHandler(_ stop: @escaping @Sendable () -> Void) {
    queue.async { [state] in
      state.stop = stop
      if state.count > 0 { stop() }
    }
  }
}
