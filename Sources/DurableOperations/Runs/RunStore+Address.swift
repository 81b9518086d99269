internal import RecordOperations

/// Opens stores of an address scheme. A type of another module, which ``RunStore`` finds by its name
/// if the program is linked with that module.
package protocol RunStoreOpener {
  /// - Parameters:
  ///   - lease: How long a claim is valid without a sign of life; nil for the default of the store.
  ///   - options: Nil for the default options of the store.
  static func store(
    at address: String, queue: String, lease: Duration?, _ options: RunStoreOptions?
  ) -> RunStore
}

extension RunStore {
  /// Creates a store from a path or an address, so that a flag or an environment variable can choose
  /// the store.
  ///
  /// ```swift
  /// import DurableOperations
  /// import Foundation
  ///
  /// let place = ProcessInfo.processInfo.environment["FLOWS"] ?? "flows.sqlite"
  /// let store = try RunStore(at: place)
  /// ```
  ///
  /// A text that begins with `postgresql://` or `postgres://` is the address of a PostgreSQL database.
  /// It needs the product `PostgresOperations`, with which the program must be linked. Every other
  /// text without a scheme is the path of an SQLite file.
  ///
  /// - Parameters:
  ///   - place: The path or the address.
  ///   - queue: The name of the queue in a PostgreSQL database. A file has no queues.
  ///   - options: The settings; nil for the default ones of the store.
  /// - Throws: A ``RunStoreError`` for an address whose scheme no module of the program knows.
  public init(
    at place: String, queue: String = "default", options: RunStoreOptions? = nil
  ) throws {
    try self.init(at: place, queue: queue, lease: nil, options: options)
  }

  /// Creates a store whose leases have another length, for demonstrations and tests. A store in a
  /// file has no leases.
  package init(
    at place: String, queue: String, lease: Duration?, options: RunStoreOptions? = nil
  ) throws {
    guard let address = DatabaseAddress(place) else {
      self = .sqlite(place, options: options ?? RunStoreOptions())
      return
    }
    guard address.isPostgres else {
      throw RunStoreError(
        .invalidAddress,
        """
        \(address.scheme)://… is no address of a store; expected the path of an SQLite file, or \
        postgresql://USER@HOST/DATABASE
        """)
    }
    // The mangled name of the enum in that module.
    let opener = _typeByName("18PostgresOperations0A11StoreOpenerO") as? any RunStoreOpener.Type
    guard let opener else {
      throw RunStoreError(
        .invalidAddress,
        """
        \(address.scheme)://…: this program is not linked with the module PostgresOperations; add the product \
        'PostgresOperations' of this package to its dependencies, and install libpq (libpq-dev)
        """)
    }
    self = opener.store(at: address.text, queue: queue, lease: lease, options)
  }

  /// Whether a text is an address, and not a path.
  package static func isAddress(_ place: String) -> Bool { DatabaseAddress(place) != nil }
}
