internal import CProcesses

/// The event loop of a watcher, on its thread.
// Not Sendable: it is created on the thread and never leaves it.
final class WatchLoop {
  private let watcher: ProcessWatcher
  private var starts = StartQueue()
  private var children: [UInt64: WatchedChild] = [:]
  private var identifiers: [ObjectIdentifier: UInt64] = [:]
  /// The times at which processes have to be updated.
  private var deadlines: [UInt64: SuspendingClock.Instant] = [:]
  private var tokens = [UInt64](repeating: 0, count: 64)
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// How many programs are started before other events are handled: a start takes as long as
  /// hundreds of other events.
  private static let startsPerTurn = 4

  init(_ watcher: ProcessWatcher) { self.watcher = watcher }

  func run() -> Never {
    while true {
      let count = watcher.wait(into: &tokens, milliseconds: timeout)
      for token in tokens.prefix(count) {
        let (identifier, part) = WatchedPart.parts(of: token)
        // An earlier event of the list may have removed it.
        update(identifier) { $0.ready(part, &buffer) }
      }
      for request in watcher.takeRequests() { handle(request) }
      startPending()
      if !deadlines.isEmpty { handleDeadlines() }
    }
  }

  private func handle(_ request: ProcessWatcher.Request) {
    switch request {
    case .begin(let child): identifiers[ObjectIdentifier(child)] = starts.append(child)
    case .cancel(let child):
      guard let identifier = identifiers[ObjectIdentifier(child)] else { return }
      if let start = starts.remove(identifier) {
        fail(start.child, identifier, with: CancellationError())
      } else {
        update(identifier) { $0.cancelled() }
      }
    case .read(let stream, let child):
      update(identifiers[ObjectIdentifier(child)]) { $0.resumeReading(stream) }
    case .write(let child): update(identifiers[ObjectIdentifier(child)]) { $0.writeInput() }
    }
  }

  private func startPending() {
    var count = 0
    while count < Self.startsPerTurn, let (identifier, start) = starts.popFirst() {
      if begin(start, identifier) { count += 1 }
    }
  }

  /// - Returns: Whether the start was attempted.
  private func begin(_ start: StartQueue.PendingStart, _ identifier: UInt64) -> Bool {
    let child = start.child
    // The request to cancel it has not been handled yet.
    if child.isCancelled {
      fail(child, identifier, with: CancellationError())
      return false
    }
    do throws(ProcessLaunchError) {
      children[identifier] = try WatchedChild(child, identifier: identifier, watch: watcher.watch)
      update(identifier) { $0.began() }
    } catch {
      if error.isTransient, let nextAttempt = starts.postpone(start, identifier, at: .now) {
        deadlines[identifier] = nextAttempt
      } else {
        fail(child, identifier, with: error)
      }
    }
    return true
  }

  /// Ends the run of a program that has not been started.
  private func fail(_ child: ChildProcess, _ identifier: UInt64, with error: any Error) {
    identifiers[ObjectIdentifier(child)] = nil
    deadlines[identifier] = nil
    // Not by their release, which may be later than the end of the run: this thread has the child.
    child.configuration.closePipeEnds()
    child.mailbox.completed(.failure(error))
  }

  private func handleDeadlines() {
    let now = SuspendingClock.now
    var isGroupCheckDue = false
    for (identifier, deadline) in deadlines where deadline <= now {
      if let start = starts.remove(identifier) {
        deadlines[identifier] = nil
        _ = begin(start, identifier)
      } else {
        update(identifier) { child in
          child.timePassed(&buffer)
          isGroupCheckDue = isGroupCheckDue || child.isGroupCheckDue
        }
      }
    }
    if isGroupCheckDue { checkGroups() }
  }

  /// Checks for all groups at once whether any process of them is left, because one check visits
  /// every process of the system.
  private func checkGroups() {
    let waiting = deadlines.keys
      .compactMap { identifier in children[identifier].map { (identifier, child: $0) } }
      .filter(\.child.isAwaitingGroup).sorted { $0.child.leader < $1.child.leader }
    let leaders = waiting.map(\.child.leader)
    var areRunning = [Bool](repeating: false, count: leaders.count)
    unsafe process_check_groups(leaders, &areRunning, leaders.count)
    for ((identifier, _), isRunning) in zip(waiting, areRunning) {
      update(identifier) { $0.groupChecked(isRunning: isRunning, &buffer) }
    }
  }

  /// Passes an event to a process, and removes the process if it is over.
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

  /// How long to wait, in milliseconds; -1 for no limit.
  private var timeout: Int32 {
    if starts.isReady { return 0 }
    guard let next = deadlines.values.min() else { return -1 }
    let left = SuspendingClock.now.duration(to: next) / .milliseconds(1)
    return Int32(max(0, min(left.rounded(.up), 60_000)))
  }
}
