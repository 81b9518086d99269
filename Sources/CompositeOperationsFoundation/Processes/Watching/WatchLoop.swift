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

  /// How many programs are started before other events have their turn: a start takes as long as
  /// hundreds of other events.
  private static let startsAtOnce = 4

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
      startSome()
      if !deadlines.isEmpty { passTime() }
    }
  }

  private func handle(_ request: ProcessWatcher.Request) {
    switch request {
    case .begin(let child): identifiers[ObjectIdentifier(child)] = starts.append(child)
    case .cancel(let child):
      guard let identifier = identifiers[ObjectIdentifier(child)] else { return }
      if let start = starts.remove(identifier) {
        end(start.child, identifier, by: CancellationError())
      } else {
        update(identifier) { $0.cancelled() }
      }
    case .read(let stream, let child):
      update(identifiers[ObjectIdentifier(child)]) { $0.resumeReading(stream) }
    }
  }

  private func startSome() {
    var count = 0
    while count < Self.startsAtOnce, let (identifier, start) = starts.popFirst() {
      if begin(start, identifier) { count += 1 }
    }
  }

  /// - Returns: Whether the start was attempted.
  private func begin(_ start: StartQueue.Start, _ identifier: UInt64) -> Bool {
    let child = start.child
    // The request to cancel it has not been handled yet.
    if child.isCancelled {
      end(child, identifier, by: CancellationError())
      return false
    }
    do throws(ProcessLaunchError) {
      children[identifier] = try WatchedChild(child, identifier: identifier, watch: watcher.watch)
      update(identifier) { $0.began() }
    } catch {
      if error.mayPass, let moment = starts.postpone(start, identifier, at: .now) {
        deadlines[identifier] = moment
      } else {
        end(child, identifier, by: error)
      }
    }
    return true
  }

  /// Ends the run of a program that has not been started.
  private func end(_ child: ChildProcess, _ identifier: UInt64, by error: any Error) {
    identifiers[ObjectIdentifier(child)] = nil
    deadlines[identifier] = nil
    child.mailbox.ended(.failure(error))
  }

  private func passTime() {
    let now = SuspendingClock.now
    var isLookDue = false
    for (identifier, moment) in deadlines where moment <= now {
      if let start = starts.remove(identifier) {
        deadlines[identifier] = nil
        _ = begin(start, identifier)
      } else {
        update(identifier) { child in
          child.timePassed(&buffer)
          isLookDue = isLookDue || child.isLookDue
        }
      }
    }
    if isLookDue { lookAtGroups() }
  }

  /// Checks for all groups at once whether any process of them is left, because one check visits
  /// every process of the system.
  private func lookAtGroups() {
    let sweeping = deadlines.keys
      .compactMap { identifier in children[identifier].map { (identifier, child: $0) } }
      .filter(\.child.isSweeping).sorted { $0.child.leader < $1.child.leader }
    let leaders = sweeping.map(\.child.leader)
    var living = [Bool](repeating: false, count: leaders.count)
    unsafe process_look_at_groups(leaders, &living, leaders.count)
    for ((identifier, _), lives) in zip(sweeping, living) {
      update(identifier) { $0.looked(lives: lives, &buffer) }
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
