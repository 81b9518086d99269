public import DurableOperations

extension RunStore {
  /// Returns a store in a PostgreSQL database, for workers on any number of machines.
  ///
  /// ```swift
  /// import DurableOperations
  /// import PostgresOperations
  ///
  /// let store = RunStore.postgres("postgresql://flows@db.example.org/app")
  /// ```
  ///
  /// The database needs the workflow engine Absurd, version 0.4 to 0.6, and a queue. The store is
  /// opened by the first request. It opens connections when it needs them, and one more while it runs
  /// or awaits runs. Each call returns a store with connections of its own, so share one in a program.
  /// See <doc:FromOneMachineToMany>.
  ///
  /// - Parameters:
  ///   - address: The address, as libpq has it: a URI, or keywords with values. The environment
  ///     variables and the password file of libpq count, too.
  ///   - queue: The name of the queue, at most 57 bytes.
  ///   - connections: The maximum number of connections for requests. By default two for each
  ///     processor, but at least 8 and at most 32. Writes that wait for a connection share a
  ///     transaction.
  ///   - options: The settings. By default, the maximum size of a value is 1 MiB; settings of your own
  ///     have 16 MiB unless you set `valueLimit`. The durability and the retention have no effect.
  /// - Precondition: `connections` is at least 1.
  public static func postgres(
    _ address: String, queue: String = "default", connections: Int? = nil,
    options: RunStoreOptions = RunStoreOptions(valueLimit: 1 << 20)
  ) -> RunStore {
    precondition(
      connections ?? 1 >= 1, "`connections` must be at least 1 (was \(connections ?? 1))")
    return RunStore(
      PostgresRunBackend(address, queue: queue, options: options, connections: connections))
  }

  /// Returns a store whose leases have another length, for tests.
  package static func postgres(
    _ address: String, queue: String = "default", lease: Duration,
    options: RunStoreOptions = RunStoreOptions(valueLimit: 1 << 20)
  ) -> RunStore {
    RunStore(PostgresRunBackend(address, queue: queue, options: options, lease: lease))
  }
}
