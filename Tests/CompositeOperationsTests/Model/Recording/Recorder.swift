import CompositeOperations

/// Takes down what happens in one run of a tree, in one order, and hands out numbers.
final class Recorder: Sendable {
  /// The time of everything that is recorded.
  let clock = TickClock()
  /// How long a leaf computes at most while it waits for another one.
  let computationTimeout: Duration
  private let state: Lock<State>

  private struct State: Sendable {
    var recording = Recording()
    /// How many jobs the executor had run when the current one began.
    var job = 0
    var lastNumber = 0
    /// What closures are decided by whose answers nobody has drawn before.
    var chance = Chance(seed: 0)
    /// How often code of the tree ran under a lock of the package.
    var callsUnderLock = 0
    /// The leaves that have begun.
    var begun: Set<Int> = []
    /// After how many entries the run is to be cancelled.
    var cancellationPoint: Int?
    var cancel: (@Sendable () -> Void)?

    mutating func add(_ entry: Entry, at tick: Int) {
      recording.entries.append(entry)
      recording.ticks.append(tick)
      recording.jobs.append(job)
    }

    /// - Returns: How to cancel the run, if it is time to.
    mutating func takeCancellation() -> (@Sendable () -> Void)? {
      guard let point = cancellationPoint, recording.entries.count >= point else { return nil }
      return cancel.take()
    }
  }

  /// - Parameter cancellationPoint: After how many entries the run is to be cancelled, by whoever
  ///   makes the entry. Nil if nobody does.
  init(cancellationPoint: Int? = nil, computationTimeout: Duration = .seconds(20)) {
    self.computationTimeout = computationTimeout
    state = Lock(State(cancellationPoint: cancellationPoint))
  }

  /// The recorded entries.
  var recording: Recording { state.withLock { $0.recording } }

  /// Records how many jobs the executor has run.
  func jobEnded(_ count: Int) { state.withLock { $0.job = count } }

  /// Whether a leaf has begun.
  func hasBegun(_ node: Int) -> Bool { state.withLock { $0.begun.contains(node) } }

  /// C3: how often code of the tree ran under a lock of the package. Always 0 in release builds.
  var callsUnderLock: Int { state.withLock { $0.callsUnderLock } }

  /// A number that nobody else gets.
  func number() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Whether something happens that happens so many times in a hundred.
  func percent(_ percentage: Int) -> Bool { state.withLock { $0.chance.percent(percentage) } }

  /// - Returns: Whether a leaf begins for the first time.
  func beginsFirst(_ node: Int) -> Bool { state.withLock { $0.begun.insert(node).inserted } }

  func add(_ entry: Entry) { add { _ in entry } }

  /// Makes an entry that tells whether the current task is cancelled.
  ///
  /// It is asked under the lock, so that the log does not show an uncancelled task behind the entry
  /// that says that everything has been cancelled.
  ///
  /// - Returns: Whether it is.
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

  /// Cancels the run and takes that down.
  func cancel(_ cancel: () -> Void) {
    state.withLock { $0.add(.cancels, at: clock.tick) }
    cancel()
    state.withLock { $0.add(.cancelled, at: clock.tick) }
  }

  /// Tells how the run is cancelled when it has come to its cancellation point.
  func prepareCancellation(_ cancel: @escaping @Sendable () -> Void) {
    let cancelNow = state.withLock { state in
      state.cancel = { self.cancel(cancel) }
      return state.takeCancellation()
    }
    cancelNow?()
  }

  /// Lets go of the run, which is over: the two would keep each other.
  func forgetCancellation() { state.withLock { $0.cancel = nil } }
}

/// What happened, entry by entry.
struct Recording: Sendable {
  var entries: [Entry] = []
  /// At which moment of the clock each of them was made.
  var ticks: [Int] = []
  /// In which job of a seeded executor each of them was made; 0 with several workers.
  var jobs: [Int] = []
}
