/// What the thread of a watcher does.
// Not Sendable: it is made on the thread and never leaves it.
final class WatchLoop {
  private let watcher: ProcessWatcher
  private var children: [UInt64: WatchedChild] = [:]
  private var identifiers: [ObjectIdentifier: UInt64] = [:]
  /// Those who wait for a moment to come.
  private var deadlines: [UInt64: SuspendingClock.Instant] = [:]
  private var lastIdentifier: UInt64 = 0
  private var tokens = [UInt64](repeating: 0, count: 64)
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  init(_ watcher: ProcessWatcher) { self.watcher = watcher }

  func run() -> Never {
    while true {
      let count = watcher.wait(into: &tokens, milliseconds: timeout)
      for token in tokens.prefix(count) {
        let (identifier, part) = WatchedPart.parts(of: token)
        // It may be gone by something that stood before this in the list.
        update(identifier) { $0.ready(part, &buffer) }
      }
      for request in watcher.takeRequests() { handle(request) }
      if !deadlines.isEmpty { passTime() }
    }
  }

  private func handle(_ request: ProcessWatcher.Request) {
    switch request {
    case .begin(let child): begin(child)
    case .cancel(let child): update(identifiers[ObjectIdentifier(child)]) { $0.cancelled() }
    case .read(let stream, let child):
      update(identifiers[ObjectIdentifier(child)]) { $0.resumeReading(stream) }
    }
  }

  private func begin(_ child: ChildProcess) {
    lastIdentifier += 1
    do {
      let watched = try WatchedChild(child, identifier: lastIdentifier, watch: watcher.watch)
      children[lastIdentifier] = watched
      identifiers[ObjectIdentifier(child)] = lastIdentifier
      update(lastIdentifier) { $0.began(&buffer) }
    } catch {
      child.mailbox.ended(.failure(error))
    }
  }

  private func passTime() {
    let now = SuspendingClock.now
    for (identifier, moment) in deadlines where moment <= now {
      update(identifier) { $0.timePassed() }
    }
  }

  /// Has something happen to a process, and forgets one that is over.
  private func update(_ identifier: UInt64?, _ event: (WatchedChild) -> Void) {
    guard let identifier, let child = children[identifier] else { return }
    event(child)
    if child.isOver {
      children[identifier] = nil
      identifiers[ObjectIdentifier(child.child)] = nil
      deadlines[identifier] = nil
    } else if let deadline = child.deadline {
      deadlines[identifier] = deadline
    } else if !deadlines.isEmpty {
      deadlines[identifier] = nil
    }
  }

  /// How long to wait, in milliseconds; -1 for as long as it takes.
  private var timeout: Int32 {
    guard let next = deadlines.values.min() else { return -1 }
    let left = SuspendingClock.now.duration(to: next) / .milliseconds(1)
    return Int32(max(0, min(left.rounded(.up), 60_000)))
  }
}
