internal import Synchronization

extension PoolAdmission {
  /// A member of the pool, from its submission to the end of its run.
  ///
  /// A class, because copies of it would cost more than all else that happens under the lock.
  // Sendable, because the variables are the state machine's, which reaches them under its lock alone.
  final class Ticket: @unchecked Sendable {
    enum Stage: Sendable {
      case unknown
      /// Its run waits already, and it has not been submitted.
      case early(Waiter)
      /// It waits to be in the queue: whoever submits it by one continuation, its run by the other.
      case wantsRoom(at: PoolQueue.Place, PlainWaiter?, Waiter?)
      /// It waits for a place; its run waits by the continuation.
      case waits(at: PoolQueue.Place, Waiter?)
      /// It is being cancelled together with others, and cannot begin any more.
      case leaves(Waiter?)
      /// It has been decided before its run asked. To begin is to have a place.
      case decided(Decision)
      case runs
      /// Its run knows that it will not begin.
      case turnedAway
      case gone
    }

    var stage = Stage.unknown
    /// Increases with every submission; 0 before.
    var number = 0
    var priority = 0
    var isBarrier = false
    var canceller: Canceller?
    /// Where it stands among the members.
    var slot = -1

    private let hasBeenAdmitted = Atomic(false)

    /// Whether it may begin, asked without the lock. If not, it may not have been decided.
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
