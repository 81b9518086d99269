internal import CompositeOperations
package import Dispatch
public import Foundation
internal import SystemSupport

/// A pool of threads for functions that block.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let disk = BlockingThreads(width: 2, name: "disk")
/// let text = BlockingOperation(on: .threads(disk)) {
///   try String(contentsOfFile: "/etc/services", encoding: .utf8)
/// }
/// ```
///
/// Threads are created on demand, up to the width, and end after ten seconds without work.
/// Functions that find no idle thread wait in FIFO order.
public final class BlockingThreads: Sendable {
  /// The default pool, with up to 64 threads.
  public static let shared = BlockingThreads(width: 64, name: "blocking")

  /// The maximum number of threads.
  public let width: Int
  /// The name of the threads.
  public let name: String

  private let idleTime: DispatchTimeInterval
  private let startThread: ThreadStart
  private let machine: Lock<StateMachine>
  /// Signaled once for every idle thread that must take a function.
  private let wakeSignal = DispatchSemaphore(value: 0)

  /// Creates a pool without threads.
  ///
  /// - Parameters:
  ///   - width: The maximum number of threads.
  ///   - name: The name of the threads, for debuggers. Linux shows 15 bytes of it.
  /// - Precondition: `width` is at least 1.
  public convenience init(width: Int, name: String) {
    self.init(width: width, name: name, endingAfter: .seconds(10))
  }

  /// Calls a function on a new thread. Returns 0, or the `errno` of the system if it created none.
  package typealias ThreadStart =
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32

  package init(
    width: Int, name: String, endingAfter idleTime: DispatchTimeInterval,
    startingThreadsBy startThread: @escaping ThreadStart = { name, body in
      SystemThread.start(named: name, body)
    }
  ) {
    precondition(width >= 1, "`width` must be at least 1 (was \(width))")
    self.width = width
    self.name = name
    self.idleTime = idleTime
    self.startThread = startThread
    machine = Lock(StateMachine(width: width))
  }

  /// How many threads there are.
  package var threadCount: Int { machine.withLock { $0.threadCount } }
  /// How many functions are running.
  public var runningCount: Int { machine.withLock { $0.runningCount } }
  /// How many functions are waiting for a thread.
  public var waitingCount: Int { machine.withLock { $0.waitingCount } }

  /// Adds a function to be called on one of the threads.
  ///
  /// - Parameters:
  ///   - function: The function.
  ///   - fail: Called instead if there is no thread and none can be created; nil to call the
  ///     function in any case, if necessary on the current thread.
  /// - Returns: The ticket for ``remove(_:)``.
  @discardableResult package func add(
    _ function: @escaping @Sendable () -> Void,
    orFail fail: (@Sendable (BlockingThreadsError) -> Void)? = nil
  ) -> Ticket {
    let (ticket, action) = machine.withLock { $0.added(Function(call: function, fail: fail)) }
    switch action {
    case .nothing: break
    case .wake: wakeSignal.signal()
    case .startThread: addThread()
    }
    return ticket
  }

  /// Removes a waiting function.
  ///
  /// - Returns: Whether it was waiting, and so will not be called.
  func remove(_ ticket: Ticket) -> Bool {
    // Not freed under the lock: it may hold values of a user.
    let removed = machine.withLock { $0.removed(ticket) }
    return removed != nil
  }

  private func addThread() {
    let code = startThread(name) { self.work() }
    if code == 0 { return }
    let error = BlockingThreadsError(name: name, code: code)
    for function in machine.withLock({ $0.threadCreationFailed() }) {
      if let fail = function.fail { fail(error) } else { function.call() }
    }
  }

  /// Calls a function on one of the threads and waits for its result, even if the task is
  /// cancelled.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { waiter in
      add { waiter.resume(returning: Result { () throws(Failure) in try body() }) }
    }
    return try result.get()
  }

  private func work() {
    var step = machine.withLock { $0.nextStep() }
    while true {
      switch step {
      case .call(let function):
        function.call()
        step = machine.withLock { $0.returned() }
      case .wait:
        if wakeSignal.wait(timeout: .now() + idleTime) == .timedOut {
          if machine.withLock({ $0.timedOut() }) { return }
          // Every idle thread has been woken, so there is a signal for this one.
          wakeSignal.wait()
        }
        step = machine.withLock { $0.nextStep() }
      }
    }
  }
}

/// The error of a blocking function for which there was no thread and the system did not create
/// one.
public struct BlockingThreadsError: Error, CustomStringConvertible {
  /// The name of the threads.
  public let name: String
  /// The `errno` of the system.
  public let code: Int32

  /// The name of the threads, the problem, and what to do.
  public var description: String {
    "Cannot create a thread for blocking functions (\(name)): \(SystemError(code: code)). "
      + "Use fewer threads, or raise the limit of the system."
  }
}

extension BlockingThreadsError: LocalizedError {
  public var errorDescription: String? { "\(self)" }
}
