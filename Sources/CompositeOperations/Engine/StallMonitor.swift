internal import Synchronization

/// Notices workers that keep their thread although another one could do what they have left, and starts that one.
///
/// It looks once a millisecond, on the timer's thread, while there are standby workers and for a while after that; while
/// all operations wait, less and less often, down to ten times a second. To be
/// seen by it costs a run two locks that hardly anybody else wants, and no reading of a clock.
enum StallMonitor {
  /// The time between two looks, in nanoseconds.
  private static let interval: Int64 = 1_000_000
  /// The same while no puller keeps a thread.
  private static let longestInterval: Int64 = 100_000_000
  /// After how many looks that find nobody it sleeps.
  private static let mostIdleLooks = 64
  private static let shardCount = 16

  /// Some of the standby workers, linked to one another.
  private struct Shard: Sendable {
    // Alive while it is here: its run takes it out before it lets go of it.
    nonisolated(unsafe) unowned(unsafe) var first: StandbyWorker?
    /// Whether the monitor looks here, or has been told to.
    var isWatched = false
  }

  /// A shard with room around it.
  private struct PaddedShard: ~Copyable {
    let lock = Lock(Shard())
    private let padding = CacheLine()
  }

  // Raw memory, which is never freed: a reference would be counted by all threads.
  private nonisolated(unsafe) static let shards: UnsafeMutablePointer<PaddedShard> = {
    let shards = UnsafeMutablePointer<PaddedShard>.allocate(capacity: shardCount)
    for index in 0..<shardCount { unsafe (shards + index).initialize(to: PaddedShard()) }
    return unsafe shards
  }()

  private static func withShard<Result: Sendable>(
    of standby: StandbyWorker, _ body: (inout Shard) -> Result
  ) -> Result {
    // Objects lie at multiples of 16.
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(standby).toOpaque())
    let index = Int((address >> 4 ^ address >> 10) % UInt(shardCount))
    return unsafe shards[index].lock.withLock(body)
  }

  /// Looks after a standby worker from now on. To be followed by ``unwatch(_:)``.
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

  // MARK: Looking

  private static let isAsleep = Lock(true)
  private static let look = Look()
  /// Held while the look is put into the timer.
  private static let scheduling = Lock(())
  /// Whether no puller has kept a thread for a while, so that it looks less often.
  private static let isSlow = Atomic(false)

  /// A look, which is followed by another one.
  private final class Look: Deadline, @unchecked Sendable {
    // The timer's thread alone uses both.
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
      // The run may have ended meanwhile, and a `deinit` is user code.
      if !needed.isEmpty { HandlerThreads.shared.run { withExtendedLifetime(needed) {} } }
    }
    return finding
  }

  /// - Returns: Whether somebody else sees to the next look, when there is a reason for one.
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
    // Who came before that has found the monitor awake.
    for index in 0..<shardCount {
      let hasSomebodyCome = unsafe shards[index].lock.withLock(\.isWatched)
      if hasSomebodyCome { return !isAsleep.withLock { exchange(&$0, with: false) } }
    }
    return true
  }
}
