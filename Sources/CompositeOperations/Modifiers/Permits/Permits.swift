internal import Synchronization

/// A counting semaphore: a number of permits that operations hold while they run.
///
/// The width of a composite limits its own children. Permits limit all operations that share them:
///
/// ```swift
/// let connections = Permits(4, name: "connections")
/// let database = Permits(1, name: "database")
///
/// let fetch = FetchIssues(repository: repository).limited(by: connections)
/// let save = SaveIssues(issues).exclusive(in: database)
/// ```
///
/// Permits are granted in FIFO order: a request for many permits is not overtaken by later requests
/// for few. The only exception: if this order would cause a deadlock, a later request overtakes the
/// request that blocks it. For example, operation A holds one of two permits, and operation B waits
/// for both. If a child of A then requests the free permit, the child receives it before B: B waits
/// for A, and A cannot end before its child.
///
/// A waiting operation raises the runs that hold the permits to its priority, and so the runs, child
/// tasks and other permits that these wait for.
///
/// There is no registry of permits: operations share permits by sharing the instance.
///
/// > Warning: A body that holds permits must not await an operation that can begin only when these
/// > permits have been released. With `other.run()`, both wait forever (a deadlock), as with any
/// > lock. With `context.run(other)`, the child fails with a ``PermitError`` immediately.
public final class Permits: Sendable {
  /// The number of permits.
  public let count: Int
  /// The name in events and errors.
  public var name: String { naming() }

  private let naming: @Sendable () -> String

  /// How many permits are left; ``inLedger`` while the ``PermitLedger`` counts them.
  private let left: Atomic<Int>
  /// The holds whose runs waiters raise; nil if there are none, as for the end of a run.
  private let holds: BusyLock<LinkedList<PermitHold.Unretained>>?

  /// Creates permits.
  ///
  /// - Parameters:
  ///   - count: The number of permits.
  ///   - name: The name in events and errors.
  /// - Precondition: `count` is at least 1.
  public convenience init(_ count: Int, name: String = "permits") {
    precondition(count >= 1, "`count` must be at least 1 (was \(count))")
    self.init(count, naming: { name })
  }

  package convenience init(_ count: Int, naming: @escaping @Sendable () -> String) {
    self.init(count, holds: BusyLock(LinkedList()), naming: naming)
  }

  /// Creates permits that only holds without a run hold.
  convenience init(withoutRuns count: Int, naming: @escaping @Sendable () -> String) {
    self.init(count, holds: nil, naming: naming)
  }

  private init(
    _ count: Int, holds: BusyLock<LinkedList<PermitHold.Unretained>>?,
    naming: @escaping @Sendable () -> String
  ) {
    self.count = count
    self.holds = holds
    self.naming = naming
    left = Atomic(count)
  }

  /// The number of permits that no operation holds.
  public var leftCount: Int { countedByItself ?? PermitLedger.leftCount(of: self) }

  /// The number of operations that wait for permits.
  public var waitingCount: Int {
    countedByItself == nil ? PermitLedger.waitingCount(for: self) : 0
  }

  // MARK: Without waiting requests

  private static var inLedger: Int { -1 }

  /// Takes permits if enough are left and no request waits.
  package func tryToTake(_ number: Int) -> Bool { exchange { $0 >= number ? $0 - number : nil } }

  /// Gives permits back if no request waits.
  package func tryToGiveBack(_ number: Int) -> Bool { exchange { $0 >= 0 ? $0 + number : nil } }

  private func exchange(_ change: (Int) -> Int?) -> Bool {
    var now = left.load(ordering: .relaxed)
    while let next = change(now) {
      let exchange = left.weakCompareExchange(
        expected: now, desired: next, ordering: .acquiringAndReleasing)
      if exchange.exchanged { return true }
      now = exchange.original
    }
    return false
  }

  // MARK: With waiting requests, which the ledger counts

  /// Lets the ``PermitLedger``, which knows the waiting requests, count the permits from now on.
  ///
  /// - Returns: The number of permits that are left.
  func moveToLedger() -> Int { left.exchange(Self.inLedger, ordering: .acquiringAndReleasing) }

  /// Takes the count of the permits back from the ``PermitLedger``, because no request waits.
  func moveFromLedger(left number: Int) { left.store(number, ordering: .releasing) }

  /// How many permits are left; nil while the ledger counts them.
  package var countedByItself: Int? {
    let count = left.load(ordering: .acquiring)
    return count == Self.inLedger ? nil : count
  }

  // MARK: The priorities of the runs that hold permits

  /// - Returns: Nil if its run cannot be raised.
  func add(_ hold: PermitHold) -> PermitHold.Place? {
    holds?.withLock { $0.append(PermitHold.Unretained(hold)) }
  }

  func remove(_ place: PermitHold.Place) { holds?.withLock { $0.remove(place) } }

  /// Raises the priority of all runs that hold permits.
  func raiseHolders(to priority: TaskPriority) {
    guard let holds else { return }
    let raised = holds.withLock { holds in
      let all = holds.map(\.hold)
      for hold in all { hold.task.willRaise() }
      return all
    }
    for hold in raised { hold.task.raise(to: priority) }
  }
}

extension Permits: CustomStringConvertible {
  /// The name.
  public var description: String { name }
}
