internal import CompositeOperations
internal import Dispatch
package import SQLiteSupport

/// A point in a transaction at which a test can end the process or make the store fail.
package enum CommitMoment: Sendable {
  /// All writes of the transaction are made.
  case beforeCommit
  /// The transaction is on the disk, and no caller knows it.
  case afterCommit
}

/// A function that a store calls at these points of its transactions. An error that it throws fails the
/// writes; an error before the commit also rolls them back.
package typealias CommitHook = @Sendable (CommitMoment, SQLiteConnection) throws -> Void

/// Writes to a database: all writes that wait when a transaction begins share it, and so share the
/// wait for the disk.
///
/// A write is not cancellable, because its caller must know whether it was made.
// Unchecked because of the connection, which only the serial queue uses.
final class GroupCommit: @unchecked Sendable {
  private struct Entry: Sendable {
    /// Writes in the open transaction, and keeps the result for `resume`.
    let write: @Sendable (SQLiteConnection) throws -> Void
    /// Resumes the caller, with an error if the transaction has failed.
    let resume: @Sendable ((any Error)?) -> Void
    /// Whether it makes changes that this module does not know, so that they may be large.
    var isForeign = false
  }

  private struct Pending: Sendable {
    var entries: [Entry] = []
    var isScheduled = false
  }

  private let pending = Lock(Pending())
  private let queue: DispatchQueue
  private let open: @Sendable () throws -> SQLiteConnection
  private let hook: CommitHook?
  private var connection: SQLiteConnection?

  /// - Parameters:
  ///   - hook: Called before and after each commit; nil except in tests.
  ///   - open: Opens the file. It is called for the first write, and again if it fails.
  init(
    _ name: String, hook: CommitHook?, open: @escaping @Sendable () throws -> SQLiteConnection
  ) {
    queue = DispatchQueue(label: name, qos: .userInitiated)
    self.open = open
    self.hook = hook
  }

  /// Makes a write, and returns when it is committed.
  ///
  /// - Parameter body: Writes, in a transaction that it shares with other writes. It must throw
  ///   before it writes, or not at all: what it has written before an error may stay.
  /// - Throws: The error of the body; a `SQLiteError` if the transaction fails, so that nothing was
  ///   written.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    try await write(isForeign: false, body)
  }

  /// Makes a write in a savepoint, and returns when it is committed.
  ///
  /// - Parameter body: Writes. If it throws, its writes are undone, and the other writes of the
  ///   transaction are not. It runs again if the transaction fails.
  /// - Throws: The error of the body; a `SQLiteError` if the transaction fails, so that nothing was
  ///   written.
  func writeInSavepoint<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    try await write(isForeign: true) { connection in
      try connection.savepoint { try body(connection) }
    }
  }

  private func write<Result: Sendable>(
    isForeign: Bool, _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let value = WrittenValue<Result>()
      add(
        Entry(
          write: { connection in try value.write { try body(connection) } },
          resume: { error in value.resume(continuation, error) }, isForeign: isForeign))
    }
  }

  /// Runs a body with the connection, outside of a transaction.
  func perform<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in
        continuation.resume(with: Swift.Result { try body(try opened()) })
      }
    }
  }

  /// Closes the connection after the writes so far. A later write opens the file again.
  func close() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        connection = nil
        continuation.resume()
      }
    }
  }

  private func add(_ entry: Entry) {
    let isFirst = pending.withLock { pending in
      pending.entries.append(entry)
      defer { pending.isScheduled = true }
      return !pending.isScheduled
    }
    if isFirst { queue.async { [self] in writePending() } }
  }

  // MARK: On the queue

  private func opened() throws -> SQLiteConnection {
    if let connection, !connection.isUnusable { return connection }
    // It closes before the file is opened again.
    self.connection = nil
    let connection = try open()
    self.connection = connection
    return connection
  }

  private func writePending() {
    while true {
      let entries = pending.withLock { pending in
        if pending.entries.isEmpty { pending.isScheduled = false }
        return exchange(&pending.entries, with: [])
      }
      if entries.isEmpty { return }
      write(entries)
    }
  }

  private func write(_ entries: [Entry]) {
    var isOpen = false
    do {
      let connection = try opened()
      try connection.transaction(.immediate) {
        isOpen = true
        for entry in entries { try entry.write(connection) }
        try hook?(.beforeCommit, connection)
      }
      isOpen = false
      try hook?(.afterCommit, connection)
    } catch let error as SQLiteError
      where entries.count > 1
      && (error.isOfStatement || isOpen && entries.contains(where: \.isForeign))
    {
      // One of them failed, and took the others with it. If records have filled the disk, smaller
      // writes may still succeed.
      for entry in entries { write([entry]) }
      return
    } catch {
      for entry in entries { entry.resume(error) }
      return
    }
    for entry in entries { entry.resume(nil) }
  }
}

/// The value of a write, between the write and the commit.
private final class WrittenValue<Value: Sendable>: Sendable {
  private let result = Lock<Result<Value, any Error>?>(nil)

  /// - Throws: A `SQLiteError` of the body, which ends the transaction.
  func write(_ body: () throws -> Value) throws {
    let written: Result<Value, any Error>
    do { written = .success(try body()) } catch let error as SQLiteError {
      throw error
    } catch {
      written = .failure(error)
    }
    // A value of an earlier attempt is freed after the lock.
    _ = result.withLock { exchange(&$0, with: written) }
  }

  func resume(_ continuation: CheckedContinuation<Value, any Error>, _ error: (any Error)?) {
    if let error { return continuation.resume(throwing: error) }
    guard let result = result.withLock({ $0.take() }) else {
      preconditionFailure("a write was committed without a result")
    }
    continuation.resume(with: result)
  }
}
