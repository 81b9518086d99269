internal import CompositeOperations
internal import Dispatch

/// A body that waits in the queue of a connection, and the continuation of its task.
final class SQLiteRequest<Response: Sendable>: Sendable {
  typealias Waiter = CheckedContinuation<Response, any Error>

  private let body: @Sendable (SQLiteConnection) throws -> Response
  private let convertError: @Sendable (SQLiteError) -> any Error
  private let machine = Lock(StateMachine())

  init(
    convertingErrors convertError: @escaping @Sendable (SQLiteError) -> any Error,
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) {
    self.body = body
    self.convertError = convertError
  }

  /// Registers the continuation of the task.
  ///
  /// - Returns: Whether to enqueue the request; false if it was cancelled before.
  func submit(_ waiter: Waiter) -> Bool {
    switch machine.withLock({ $0.submitted(waiter) }) {
    case .enqueue: return true
    case .refuse:
      waiter.resume(throwing: CancellationError())
      return false
    }
  }

  func cancel() {
    switch machine.withLock({ $0.cancelled() }) {
    case .nothing: break
    case .resume(let waiter): waiter.resume(throwing: CancellationError())
    case .interrupt(let handle):
      handle.interrupt()
      machine.withLock { $0.interruptionMade() }.signal()
    }
  }

  /// Runs the body on the thread of its connection, unless it was cancelled.
  ///
  /// - Parameters:
  ///   - connection: The connection; nil if none is open.
  ///   - open: Opens a connection.
  /// - Returns: The connection to keep; nil if none is open or it has failed.
  func run(on connection: SQLiteConnection?, open: () throws -> SQLiteConnection)
    -> SQLiteConnection?
  {
    guard machine.withLock({ [handle = connection?.handle] in $0.started(handle) }) else {
      return connection
    }
    var connection = connection
    let result: Result<Response, any Error>
    do {
      let opened = try connection ?? open()
      connection = opened
      // SQLite ignores an interruption just before a statement starts, so statements poll for it,
      // too.
      opened.handle.isCancelled = { [self] in machine.withLock { $0.isCancelled } }
      defer { opened.handle.isCancelled = { false } }
      result = .success(try body(opened))
    } catch let error as SQLiteError {
      result = .failure(error.kind == .interrupted ? CancellationError() : convertError(error))
    } catch {
      result = .failure(error)
    }
    end().resume(with: result)
    return connection?.isUnusable == true ? nil : connection
  }

  private func end() -> Waiter {
    while true {
      switch machine.withLock({ $0.finished() }) {
      case .resume(let waiter): return waiter
      // The wait is short: it ends when `sqlite3_interrupt`, which sets a flag, has returned.
      case .waitForInterruption(let semaphore): semaphore.wait()
      }
    }
  }
}
