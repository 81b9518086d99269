public import DurableOperations
internal import SystemSupport

extension RunStore {
  /// Creates a store from a path or an address, so that a flag or an environment variable can choose
  /// the store.
  ///
  /// ```swift
  /// import DurableOperations
  /// import Foundation
  /// import PostgresOperations
  ///
  /// let place = ProcessInfo.processInfo.environment["FLOWS"] ?? "flows.sqlite"
  /// let store = try RunStore(at: place)
  /// ```
  ///
  /// A text that begins with `postgresql://`, `postgres://` or a parameter of libpq, such as `host=`, is the address
  /// of a PostgreSQL database. Every other text without a scheme is the path of an SQLite file.
  ///
  /// A program that uses only `DurableOperations` creates its store with `RunStore.sqlite(_:options:)`.
  ///
  /// - Parameters:
  ///   - place: The path or the address.
  ///   - queue: The name of the queue in a PostgreSQL database. A file has no queues.
  ///   - options: The settings; nil for the default ones of the store.
  /// - Throws: A `RunStoreError` for an address with another scheme.
  public init(
    at place: String, queue: String = "default", options: RunStoreOptions? = nil
  ) throws {
    try self.init(at: place, queue: queue, lease: nil, options: options)
  }

  /// Creates a store whose leases have another length, for demonstrations and tests. A store in a
  /// file has no leases.
  ///
  /// - Parameter lease: How long a claim is valid without a sign of life; nil for the default.
  package init(
    at place: String, queue: String, lease: Duration?, options: RunStoreOptions? = nil
  ) throws {
    guard let address = DatabaseAddress(place) else {
      self = .sqlite(place, options: options ?? RunStoreOptions())
      return
    }
    guard address.isPostgres else { throw RunStoreError.unknownScheme(address.scheme) }
    let options = options ?? RunStoreOptions(valueLimit: 1 << 20)
    if let lease {
      self = .postgres(address.text, queue: queue, lease: lease, options: options)
    } else {
      self = .postgres(address.text, queue: queue, options: options)
    }
  }
}
