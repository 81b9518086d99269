import CompositeOperations

/// Records what happens in one run of a tree, in one order, and issues unique numbers.
final class Recorder: Sendable {
  /// The clock of the tree, and of the entries.
  let clock = TickClock()
  /// The maximum time that a leaf computes while it waits for another leaf.
  let computationTimeout: Duration
  private let state: Lock<State>

  private struct State: Sendable {
    var recording = Recording()
    /// The number of jobs that the executor had run when the current one began.
    var job = 0
    var lastNumber = 0
    /// Decides the answers of closures that the tree does not determine.
    var chance = Chance(seed: 0)
    /// How many times code of the tree ran under a lock of the package.
    var callsUnderLock = 0
    /// The leaves that have begun.
    var begun: Set<Int> = []
    var abandonableBodies = AbandonableBodies()
    /// The number of entries after which the run is cancelled.
    var cancellationPoint: Int?
    var cancel: (@Sendable () -> Void)?

    mutating func add(_ entry: Entry, at tick: Int) {
      abandonableBodies.read(entry)
      recording.entries.append(entry)
      recording.ticks.append(tick)
      recording.jobs.append(job)
    }

    /// - Returns: A closure that cancels the run, if it has reached the cancellation point.
    mutating func takeCancellation() -> (@Sendable () -> Void)? {
      guard let point = cancellationPoint, recording.entries.count >= point else { return nil }
      return cancel.take()
    }
  }

  /// - Parameters:
  ///   - cancellationPoint: The number of entries after which the code that adds an entry cancels
  ///     the run; nil for never.
  ///   - computationTimeout: The maximum time that a leaf computes while it waits for another leaf.
  init(cancellationPoint: Int? = nil, computationTimeout: Duration = .seconds(20)) {
    self.computationTimeout = computationTimeout
    state = Lock(State(cancellationPoint: cancellationPoint))
  }

  /// The entries so far.
  var recording: Recording { state.withLock { $0.recording } }

  /// Records how many jobs the executor has run.
  func jobEnded(_ count: Int) { state.withLock { $0.job = count } }

  /// Whether a leaf has begun.
  func hasBegun(_ node: Int) -> Bool { state.withLock { $0.begun.contains(node) } }

  /// C3: how many times code of the tree ran under a lock of the package. Always 0 in release
  /// builds.
  var callsUnderLock: Int { state.withLock { $0.callsUnderLock } }

  /// Returns a unique number.
  func number() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Returns `true` with the given probability in percent.
  func percent(_ percentage: Int) -> Bool { state.withLock { $0.chance.percent(percentage) } }

  /// Records that a leaf has begun.
  ///
  /// - Returns: Whether it begins for the first time.
  func beginsFirst(_ node: Int) -> Bool { state.withLock { $0.begun.insert(node).inserted } }

  /// Whether a body still runs, although its run has ended.
  func isAbandoned(_ ticket: Int) -> Bool {
    state.withLock { $0.abandonableBodies.abandoned.contains(ticket) }
  }

  /// Waits for the abandoned bodies that still run.
  func waitForAbandonedBodies() async {
    while state.withLock({ !$0.abandonableBodies.abandoned.isEmpty }) { await Task.yield() }
  }

  func add(_ entry: Entry) { add { _ in entry } }

  /// Adds an entry that contains whether the current task is cancelled.
  ///
  /// The check is under the lock, so that no task that is not cancelled adds an entry after
  /// `.cancelled`.
  ///
  /// - Returns: Whether the task is cancelled.
  @discardableResult func add(_ entry: (_ isCancelled: Bool) -> Entry) -> Bool {
    let isUnderLock = HeldLocks.count > 0
    let (isCancelled, cancel) = state.withLock { state in
      let isCancelled = Task.isCancelled
      if isUnderLock { state.callsUnderLock += 1 }
      state.add(entry(isCancelled), at: clock.tick)
      return (isCancelled, state.takeCancellation())
    }
    cancel?()
    return isCancelled
  }

  /// Cancels the run, and records that.
  func cancel(_ cancel: () -> Void) {
    state.withLock { $0.add(.cancels, at: clock.tick) }
    cancel()
    state.withLock { $0.add(.cancelled, at: clock.tick) }
  }

  /// Sets the closure that cancels the run at the cancellation point.
  func prepareCancellation(_ cancel: @escaping @Sendable () -> Void) {
    let cancelNow = state.withLock { state in
      state.cancel = { self.cancel(cancel) }
      return state.takeCancellation()
    }
    cancelNow?()
  }

  /// Releases the run after its end. Otherwise, the run and the recorder would retain each other.
  func forgetCancellation() { state.withLock { $0.cancel = nil } }
}

/// The bodies that their runs may abandon, and that have begun and not ended.
private struct AbandonableBodies: Sendable {
  /// The tickets of the bodies whose runs wait for them, by node.
  private var awaited: [Int: Int] = [:]
  /// The tickets of the bodies whose runs have ended.
  private(set) var abandoned: Set<Int> = []

  mutating func read(_ entry: Entry) {
    switch entry {
    case .abandonableBodyBegan(let node, let ticket, _): awaited[node] = ticket
    case .abandonableBodyEnded(let ticket, _, _):
      abandoned.remove(ticket)
      awaited = awaited.filter { $0.value != ticket }
    case .ended(let node, _, _):
      if let ticket = awaited.removeValue(forKey: node) { abandoned.insert(ticket) }
    default: break
    }
  }
}

/// The entries of a run, with their times.
struct Recording: Sendable {
  var entries: [Entry] = []
  /// The tick of the clock for each entry.
  var ticks: [Int] = []
  /// The job of the seeded executor for each entry; 0 with several workers.
  var jobs: [Int] = []
}
