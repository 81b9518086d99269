import CommandLineOperations
import DurableOperations
import SystemSupport

#if canImport(PostgresOperations)
  import PostgresOperations
#endif

/// The arguments that name a store: a path or an address, and `--queue QUEUE`.
enum StoreOptions {
  static let defaultQueue = "default"

  static let expected = "the SQLite file of a journal, or postgresql://USER@HOST/DATABASE"

  /// Checks the path or the address.
  ///
  /// - Parameter name: The name of the argument, for messages.
  static func place(
    _ argument: RawPath, _ name: String, for command: String
  ) throws(UsageError) -> String {
    guard let place = argument.text else {
      // It may be an address with a password.
      throw UsageError("\(command): the \(name) is not UTF-8; expected \(expected)")
    }
    if place.isEmpty || place.hasPrefix("-") {
      throw UsageError("\(command): invalid \(name) \(argument); expected \(expected)")
    }
    return place
  }

  /// Opens the store at a path or an address.
  ///
  /// - Parameters:
  ///   - lease: How long a claim is valid without a sign of life; nil for the default of the store.
  ///   - options: The settings; nil for the default ones of the store.
  /// - Throws: A `RunStoreError` without the rest of the address, which may have a password.
  static func store(
    at place: String, queue: String, lease: Duration? = nil, options: RunStoreOptions? = nil
  ) throws -> RunStore {
    #if canImport(PostgresOperations)
      return try RunStore(at: place, queue: queue, lease: lease, options: options)
    #else
      guard let address = DatabaseAddress(place) else {
        return .sqlite(place, options: options ?? RunStoreOptions())
      }
      guard address.isPostgres else { throw RunStoreError.unknownScheme(address.scheme) }
      throw RunStoreError(.invalidAddress, address.missingPostgres)
    #endif
  }

  /// Takes the value of `--queue` from the arguments.
  static func queue(
    from rest: inout ArraySlice<RawPath>, at place: String, for command: String
  ) throws(UsageError) -> String {
    guard let queue = rest.popFirst()?.text, !queue.isEmpty else {
      throw UsageError("\(command): --queue without a value; expected the name of a queue")
    }
    guard RunStore.isAddress(place) else {
      throw UsageError(
        "\(command): --queue with a file, which has no queues; expected the address of a database")
    }
    return queue
  }

  /// Takes the value of an option with a number from the arguments.
  static func number(
    _ option: String, _ range: ClosedRange<Int>, from rest: inout ArraySlice<RawPath>,
    for command: String
  ) throws(UsageError) -> Int {
    let expected = "expected a number from \(range.lowerBound) to \(range.upperBound)"
    guard let argument = rest.popFirst() else {
      throw UsageError("\(command): \(option) without a number; \(expected)")
    }
    guard let number = argument.text.flatMap({ Int($0) }), range.contains(number) else {
      throw UsageError("\(command): invalid \(option) \(argument); \(expected)")
    }
    return number
  }
}

extension DatabaseAddress {
  /// Says that the program cannot open the address, and what to do.
  var missingPostgres: String {
    """
    \(scheme)://…: this program was built without PostgreSQL; install libpq (libpq-dev on Debian), \
    run `swift package purge-cache`, and build it again
    """
  }
}

extension RunStore {
  /// Whether a text is an address, and not a path.
  static func isAddress(_ place: String) -> Bool { DatabaseAddress(place) != nil }

  /// Whether a text is the address of a PostgreSQL database.
  static func isPostgresAddress(_ place: String) -> Bool {
    DatabaseAddress(place)?.isPostgres == true
  }

  /// The store for messages: the path, or the address without its password.
  func place(_ argument: String) -> String {
    Self.isAddress(argument) ? backend.location : RawPath(argument).description
  }
}
