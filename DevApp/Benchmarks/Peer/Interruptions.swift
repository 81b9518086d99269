import Dispatch
import Foundation
import Synchronization

/// A handler of termination signals that kills the running children. A child that hangs would not
/// notice the end of its input.
enum Interruptions {
  private static let children = Mutex<Set<pid_t>>([])
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  // Created once, and not accessed after that.
  private nonisolated(unsafe) static let sources: [any DispatchSourceSignal] = signals.map {
    number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
      children.withLock { for child in $0 { kill(-child, SIGKILL) } }
      signal(number, SIG_DFL)
      kill(getpid(), number)
    }
    source.resume()
    return source
  }

  /// From now on, kills the added children if a signal ends this process.
  static func endChildren() { _ = sources }

  static func add(_ child: pid_t) { children.withLock { _ = $0.insert(child) } }
  static func remove(_ child: pid_t) { children.withLock { _ = $0.remove(child) } }
}
