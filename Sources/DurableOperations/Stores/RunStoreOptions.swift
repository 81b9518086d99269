public import Foundation

/// The settings of a store.
public struct RunStoreOptions: Sendable {
  /// Whether a step is on the disk when it counts as finished.
  public enum Durability: Sendable {
    /// A finished step survives a power failure.
    case full
    /// A finished step survives the end of the process. A power failure may lose the last steps,
    /// which then run again.
    case normal
  }

  /// Whether a step is on the disk when it counts as finished. ``Durability/full`` by default. In
  /// PostgreSQL, the setting `synchronous_commit` of the server applies instead.
  public var durability: Durability
  /// How long ended runs are kept. 30 days by default. In PostgreSQL, the policy of the queue applies
  /// instead.
  public var retention: Duration
  /// The maximum number of bytes of a stored value. 16 MiB by default. A store in PostgreSQL that was
  /// created without settings has 1 MiB.
  public var valueLimit: Int
  /// The shortest wait for which a run is parked. During a shorter wait, it stays in memory. 10
  /// seconds by default.
  public var parkingThreshold: Duration
  /// The encoding of states, results and errors.
  public var coder: any RunCoder
  /// The wall clock, by which the wake times of runs are determined. In PostgreSQL, its times are
  /// corrected by the difference between the clock of the server and the clock of this machine.
  public var now: @Sendable () -> Date
  /// The types whose names have changed since they were stored, with their former names, the oldest first. Empty
  /// by default.
  ///
  /// ```swift
  /// import DurableOperations
  ///
  /// var options = RunStoreOptions()
  /// options.aliases = [
  ///   "Shop.ChargeCard": ChargeCard.self,  // was in a module Shop
  ///   "Order": Fulfilment.self,  // a flow whose `flowName` was Order
  /// ]
  /// let store = RunStore.sqlite("flows.sqlite", options: options)
  /// ```
  ///
  /// The name of a flow is its `flowName`. The name of a step, a result or an error is the one of its type with the
  /// module, as in `String(reflecting:)`. No other type may have a former name.
  ///
  /// The idempotency keys of a step, and the names of its child flows, contain its name. With an alias they have the oldest
  /// one, so an alias should come together with the new name, and stay. A generic type itself cannot have an alias.
  public var aliases: KeyValuePairs<String, any Any.Type> = [:]
  /// How long a request waits for a lock of another process on the file. The page of runs, whose
  /// readers wait for it, has a shorter time.
  package var busyTimeout = Duration.seconds(30)

  /// Creates settings.
  ///
  /// - Precondition: `valueLimit` is at least 1, and the durations are not negative.
  public init(
    durability: Durability = .full, retention: Duration = .seconds(30 * 86_400),
    valueLimit: Int = 16 << 20, parkingThreshold: Duration = .seconds(10),
    coder: any RunCoder = JSONRunCoder(), now: @escaping @Sendable () -> Date = { Date() }
  ) {
    precondition(valueLimit >= 1, "`valueLimit` must be at least 1 (was \(valueLimit))")
    precondition(retention >= .zero, "`retention` must not be negative (was \(retention))")
    precondition(
      parkingThreshold >= .zero, "`parkingThreshold` must not be negative (was \(parkingThreshold))"
    )
    self.durability = durability
    self.retention = retention
    self.valueLimit = valueLimit
    self.parkingThreshold = parkingThreshold
    self.coder = coder
    self.now = now
  }

  /// The problem of a value with a number of bytes; nil if it is not too large.
  func problem(ofSize size: Int) -> String? {
    guard size > valueLimit else { return nil }
    return """
      of \(size) bytes exceeds the limit of \(valueLimit) bytes; keep large values in a file or a \
      database, or raise `valueLimit` of the store
      """
  }

  /// The wall clock in milliseconds since the beginning of 1970, UTC.
  package var milliseconds: Int64 { Int64((now().timeIntervalSince1970 * 1_000).rounded()) }
}
