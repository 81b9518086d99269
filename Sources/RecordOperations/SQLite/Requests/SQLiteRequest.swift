internal import CompositeOperations
internal import Dispatch

/// What a task wants of a connection, and waits for in its line.
final class SQLiteRequest<Response: Sendable>: Sendable {
  typealias Waiter = CheckedContinuation<Response, any Error>

  private let body: @Sendable (SQLiteConnection) throws -> Response
  private let machine = Lock(StateMachine())

  init(_ body: @escaping @Sendable (SQLiteConnection) throws -> Response) { self.body = body }

  /// - Returns: Whether it is to be put in the line.
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

  /// Runs it on the thread of its connection, if it is still wanted.
  ///
  /// - Parameters:
  ///   - connection: Where it runs; nil as long as none is open.
  ///   - open: Opens one.
  /// - Returns: The connection that there is afterwards.
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
      // It finds out, too, what was cancelled in the moment in which a statement began: to that, SQLite is deaf.
      opened.handle.isCancelled = { [self] in machine.withLock { $0.isCancelled } }
      defer { opened.handle.isCancelled = { false } }
      result = .success(try body(opened))
    } catch let error as SQLiteError {
      result = .failure(error.translated)
    } catch {
      result = .failure(error)
    }
    end().resume(with: result)
    return connection?.hasFailed == true ? nil : connection
  }

  private func end() -> Waiter {
    while true {
      switch machine.withLock({ $0.finished() }) {
      case .resume(let waiter): return waiter
      // It takes as long as a call of a function that sets a flag.
      case .waitForInterruption(let semaphore): semaphore.wait()
      }
    }
  }
}
