internal import Synchronization

/// A number of permits that operations take while they run, wherever they run.
///
/// A width limits the children of one composite; permits limit whatever is given the same ones:
///
/// ```swift
/// let connections = Permits(4, name: "connections")
/// let database = Permits(1, name: "database")
///
/// let fetch = FetchIssues(repository: repository).limited(by: connections)
/// let save = SaveIssues(issues).exclusive(in: database)
/// ```
///
/// Permits are given first come, first served: who asks for many is not overtaken by those who ask
/// for few. They are nobody's but of those who have them; there is no list of all permits.
///
/// > Warning: A body that holds permits and waits for a `run()` of its own that wants them hangs, as with
/// > any lock. Run it as a child instead, `try await context.run(other)`: that is seen, and gets a
/// > ``PermitError`` at once.
public final class Permits: Sendable {
  /// How many there are.
  public let count: Int
  /// What errors call them.
  public var name: String { naming() }

  private let naming: @Sendable () -> String

  /// How many are left while nobody waits for one; ``inLedger`` while somebody does, or did a moment
  /// ago.
  private let left: Atomic<Int>

  /// - Parameters:
  ///   - count: How many there are.
  ///   - name: What errors call them.
  /// - Precondition: There is at least one.
  public convenience init(_ count: Int, name: String = "permits") {
    precondition(count >= 1, "`count` must be at least 1 (was \(count))")
    self.init(count, naming: { name })
  }

  package init(_ count: Int, naming: @escaping @Sendable () -> String) {
    self.count = count
    self.naming = naming
    left = Atomic(count)
  }

  /// How many nobody has just now.
  public var leftCount: Int { countedByItself ?? PermitLedger.leftCount(of: self) }

  /// How many operations wait for some just now.
  public var waitingCount: Int {
    countedByItself == nil ? PermitLedger.waitingCount(for: self) : 0
  }

  // MARK: While nobody waits

  private static var inLedger: Int { -1 }

  /// Takes permits if they are left and nobody waits.
  package func tryToTake(_ number: Int) -> Bool { exchange { $0 >= number ? $0 - number : nil } }

  /// Gives permits back if nobody waits.
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

  // MARK: While the ledger counts them

  /// How many were left. From here on the ledger counts.
  func moveToLedger() -> Int { left.exchange(Self.inLedger, ordering: .acquiringAndReleasing) }

  /// Nobody waits any more.
  func moveFromLedger(left number: Int) { left.store(number, ordering: .releasing) }

  /// How many are left while nobody waits; nil while the ledger counts.
  package var countedByItself: Int? {
    let count = left.load(ordering: .acquiring)
    return count == Self.inLedger ? nil : count
  }
}

extension Permits: CustomStringConvertible {
  public var description: String { name }
}
