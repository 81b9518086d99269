import Dispatch
import Foundation
import Synchronization

/// Ends the children that run when somebody ends this process by a signal: one that hangs would not
/// notice the end of its input.
enum Interruptions {
  private static let children = Mutex<Set<pid_t>>([])
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  // Made once, and touched by nobody after that.
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

  /// From now on, children that were added are ended with this process.
  static func endChildren() { _ = sources }

  static func add(_ child: pid_t) { children.withLock { _ = $0.insert(child) } }
  static func remove(_ child: pid_t) { children.withLock { _ = $0.remove(child) } }
}
