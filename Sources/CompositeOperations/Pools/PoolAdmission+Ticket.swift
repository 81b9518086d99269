internal import Synchronization

extension PoolAdmission {
  /// A member of the pool, from its submission to the end of its run.
  ///
  /// A class, because copies of it would cost more than everything else under the lock.
  // Sendable: only the state machine uses the variables, under its lock.
  final class Ticket: @unchecked Sendable {
    enum Stage: Sendable {
      case unknown
      /// Its run already waits, and it has not been submitted.
      case early(Waiter)
      /// It waits for room in the queue. Its submitter waits with the first continuation, its run
      /// with the second.
      case wantsRoom(at: PoolQueue.Place, PlainWaiter?, Waiter?)
      /// It waits for a place. Its run waits with the continuation.
      case waits(at: PoolQueue.Place, Waiter?)
      /// It is being cancelled, and cannot begin anymore.
      case leaves(Waiter?)
      /// The decision preceded the wait of its run. After `begin` it has a place.
      case decided(Decision)
      case runs
      /// Its run knows that it will not begin.
      case turnedAway
      case gone
    }

    var stage = Stage.unknown
    /// Increases with every submission; 0 before the submission.
    var number = 0
    var priority = 0
    var isBarrier = false
    var canceller: Canceller?
    /// The index among the members; negative if it is not a member.
    var slot = -1

    private let hasBeenAdmitted = Atomic(false)

    /// Whether it may begin, read without the lock. If false, there may be no decision yet.
    var isAdmitted: Bool { hasBeenAdmitted.load(ordering: .acquiring) }

    func admit() { hasBeenAdmitted.store(true, ordering: .releasing) }

    var isMember: Bool { slot >= 0 }

    /// - Returns: The canceller, to be freed outside the lock.
    func leave() -> Canceller? {
      slot = -1
      stage = .gone
      return canceller.take()
    }

    var isDecided: Bool {
      if case .decided = stage { true } else { false }
    }

    var hasPlace: Bool {
      switch stage {
      case .runs, .decided(.begin): true
      case .unknown, .early, .wantsRoom, .waits, .leaves, .decided, .turnedAway, .gone: false
      }
    }

    var isTurnedAway: Bool {
      switch stage {
      case .leaves, .turnedAway, .decided(.refused), .decided(.cancelled), .gone: true
      case .unknown, .early, .wantsRoom, .waits, .decided(.begin), .runs: false
      }
    }
  }
}

extension PoolAdmission {
  typealias Waiter = CheckedContinuation<Decision, Never>
  typealias PlainWaiter = CheckedContinuation<Void, Never>
  typealias Canceller = @Sendable (_ reason: String?) -> Void

  /// The decision on a member.
  enum Decision: Sendable {
    case begin
    /// It was cancelled while it waited.
    case cancelled
    case refused(PoolRefusalError.Reason)
  }

  /// The remaining wait of the submitter of a member.
  enum Remainder: Sendable {
    case isDone
    case roomIsWanted
    /// Many refused or cancelled members have not ended. The submitter yields to them, so that
    /// their number does not grow.
    case othersAreLeaving
  }

  /// The waiters to resume outside the lock.
  struct Resumptions: Sendable {
    /// The first waiter needs no array: usually it is the only one.
    private var first: Waiter?
    private var firstDecision = Decision.begin
    private var rest: [(waiter: Waiter, decision: Decision)] = []
    var others: [PlainWaiter] = []
    /// Freed together with this, outside the lock.
    var unused: Canceller?

    mutating func add(_ waiter: Waiter, _ decision: Decision) {
      if first == nil {
        first = waiter
        firstDecision = decision
      } else {
        rest.append((waiter, decision))
      }
    }

    func perform() {
      first?.resume(returning: firstDecision)
      for (waiter, decision) in rest { waiter.resume(returning: decision) }
      for waiter in others { waiter.resume() }
    }
  }
}
