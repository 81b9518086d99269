internal import Synchronization
internal import ThreadSupport

/// A monitor that starts the standby worker of a run when a worker keeps its thread while there is
/// work for another one.
///
/// It checks once a millisecond, on the timer's thread, while there are standby workers and for a
/// short time after that. While all operations wait, the interval grows to at most a tenth of a
/// second. A monitored run acquires two locks, which have little contention, and reads no clock.
enum StallMonitor {
  /// The time between two checks, in nanoseconds.
  private static let interval: Int64 = 1_000_000
  /// The longest time between two checks, in nanoseconds, while no puller keeps a thread.
  private static let longestInterval: Int64 = 100_000_000
  /// The number of consecutive checks without a standby worker after which the monitor sleeps.
  private static let mostIdleLooks = 64
  private static let shardCount = 16

  /// A linked list of some of the standby workers.
  private struct Shard: Sendable {
    // Valid while it is in the list: its run removes it before releasing it.
    nonisolated(unsafe) unowned(unsafe) var first: StandbyWorker?
    /// Whether the monitor checks this list, or is being woken to do so.
    var isWatched = false
  }

  /// A shard with padding against false sharing.
  private struct PaddedShard: ~Copyable {
    let lock = Lock(Shard())
    private let padding = CacheLine()
  }

  // Raw memory, which is never freed: all threads would retain and release a reference.
  private nonisolated(unsafe) static let shards: UnsafeMutablePointer<PaddedShard> = {
    let shards = UnsafeMutablePointer<PaddedShard>.allocate(capacity: shardCount)
    for index in 0..<shardCount { unsafe (shards + index).initialize(to: PaddedShard()) }
    return unsafe shards
  }()

  private static func withShard<Result: Sendable>(
    of standby: StandbyWorker, _ body: (inout Shard) -> Result
  ) -> Result {
    // Addresses of objects are multiples of 16.
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(standby).toOpaque())
    let index = Int((address >> 4 ^ address >> 10) % UInt(shardCount))
    return unsafe shards[index].lock.withLock(body)
  }

  /// Monitors a standby worker until ``unwatch(_:)``, which must follow.
  static func watch(_ standby: StandbyWorker) {
    let isWatched = withShard(of: standby) { shard in
      unsafe standby.next = unsafe shard.first
      unsafe shard.first?.previous = standby
      unsafe shard.first = standby
      defer { shard.isWatched = true }
      return shard.isWatched
    }
    if !isWatched { wake() }
    if isSlow.load(ordering: .relaxed), isSlow.exchange(false, ordering: .relaxed) { lookLater() }
  }

  static func unwatch(_ standby: StandbyWorker) {
    withShard(of: standby) { shard in
      unsafe standby.next?.previous = unsafe standby.previous
      if let previous = unsafe standby.previous {
        unsafe previous.next = unsafe standby.next
      } else {
        unsafe shard.first = unsafe standby.next
      }
    }
  }

  // MARK: Checks

  private static let isAsleep = Lock(true)
  private static let look = Look()
  /// Held while the next check is scheduled.
  private static let scheduling = Lock(())
  /// Whether the interval has grown because no puller has kept a thread for a while.
  private static let isSlow = Atomic(false)

  /// A check, which schedules the next one.
  private final class Look: Deadline, @unchecked Sendable {
    // Only the timer's thread uses both.
    private var idleLooks = 0
    private var interval = StallMonitor.interval

    override func reached() {
      switch StallMonitor.startThoseNeeded() {
      case .threadsAreKept:
        idleLooks = 0
        interval = StallMonitor.interval
      case .allWait:
        idleLooks = 0
        // Twice as long each time: operations may wait for hours.
        interval = min(interval * 2, StallMonitor.longestInterval)
      case .noStandbyWorkers:
        idleLooks += 1
        interval = StallMonitor.interval
        if idleLooks >= StallMonitor.mostIdleLooks {
          idleLooks = 0
          if StallMonitor.fallAsleep() { return }
        }
      }
      StallMonitor.isSlow.store(interval > StallMonitor.interval, ordering: .relaxed)
      StallMonitor.lookLater(after: interval)
    }
  }

  private static func lookLater(after delay: Int64 = interval) {
    scheduling.withLock { _ in
      DeadlineTimer.shared.remove(look)
      DeadlineTimer.shared.add(look, at: EventTime.now.advanced(byNanoseconds: delay))
    }
  }

  private static func wake() {
    if isAsleep.withLock({ exchange(&$0, with: false) }) { lookLater() }
  }

  private enum Finding { case threadsAreKept, allWait, noStandbyWorkers }

  private static func startThoseNeeded() -> Finding {
    var finding = Finding.noStandbyWorkers
    for index in 0..<shardCount {
      let needed = unsafe shards[index].lock.withLock { shard in
        var needed: [StandbyWorker] = []
        var next = unsafe shard.first
        if next != nil, finding == .noStandbyWorkers { finding = .allWait }
        while let standby = next {
          if standby.pullerOnStack != 0 { finding = .threadsAreKept }
          if standby.isNeeded() { needed.append(standby) }
          next = unsafe standby.next
        }
        return needed
      }
      for standby in needed { standby.start(isCounted: false) }
      // If the run has ended, this may release it, and a `deinit` is user code.
      if !needed.isEmpty { HandlerThreads.shared.run { withExtendedLifetime(needed) {} } }
    }
    return finding
  }

  /// - Returns: Whether ``watch(_:)`` schedules the next check instead of the caller.
  private static func fallAsleep() -> Bool {
    var isAnybodyThere = false
    for index in 0..<shardCount {
      let isWatched = unsafe shards[index].lock.withLock { shard in
        shard.isWatched = unsafe shard.first != nil
        return shard.isWatched
      }
      isAnybodyThere = isAnybodyThere || isWatched
    }
    if isAnybodyThere { return false }
    isAsleep.withLock { $0 = true }
    // A standby worker that was added before this has found the monitor awake.
    for index in 0..<shardCount {
      let hasSomebodyCome = unsafe shards[index].lock.withLock(\.isWatched)
      if hasSomebodyCome { return !isAsleep.withLock { exchange(&$0, with: false) } }
    }
    return true
  }
}
