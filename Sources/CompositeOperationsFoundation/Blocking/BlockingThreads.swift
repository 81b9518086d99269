internal import CompositeOperations
package import Dispatch

/// Threads for functions that block.
///
/// There are none until they are needed, never more than the width, and those that have had nothing to do for
/// ten seconds end. What finds no free one waits in a line.
public final class BlockingThreads: Sendable {
  /// The threads of all who name no others: up to 64.
  public static let shared = BlockingThreads(width: 64, name: "blocking")

  /// How many threads there are at most.
  public let width: Int
  /// What the threads are called.
  public let name: String

  private let idleTime: DispatchTimeInterval
  private let startThread: ThreadStart
  private let machine: Lock<StateMachine>
  /// Raised once for every thread that waits and is to look again.
  private let alarm = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - width: How many threads there are at most.
  ///   - name: What they are called, for debuggers. Linux shows 15 bytes of it.
  /// - Precondition: There is at least one.
  public convenience init(width: Int, name: String) {
    self.init(width: width, name: name, endingAfter: .seconds(10))
  }

  /// Calls a function on a new thread; gives 0, or why the system made none, one of `errno`.
  package typealias ThreadStart =
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32

  package init(
    width: Int, name: String, endingAfter idleTime: DispatchTimeInterval,
    startingThreadsBy startThread: @escaping ThreadStart = SystemThread.start
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
  /// How many functions run.
  public var runningCount: Int { machine.withLock { $0.runningCount } }
  /// How many functions wait for a thread.
  public var waitingCount: Int { machine.withLock { $0.waitingCount } }

  /// Has a function called on one of the threads.
  ///
  /// - Parameters:
  ///   - function: What is called.
  ///   - fail: Called instead if there is no thread and none can be made; nil if the function is to be called
  ///     in any case, if need be on this very thread.
  /// - Returns: What the function is given up by.
  @discardableResult package func add(
    _ function: @escaping @Sendable () -> Void,
    orFail fail: (@Sendable (BlockingThreadsError) -> Void)? = nil
  ) -> Ticket {
    let (ticket, action) = machine.withLock { $0.added(Function(call: function, fail: fail)) }
    switch action {
    case .nothing: break
    case .wake: alarm.signal()
    case .begin: begin()
    }
    return ticket
  }

  /// Forgets a function that waits for a thread. One that has been called, or was forgotten, stays as it is.
  func remove(_ ticket: Ticket) {
    // Not under the lock: what it keeps may be freed here.
    _ = machine.withLock { $0.removed(ticket) }
  }

  private func begin() {
    let code = startThread(name) { self.work() }
    if code == 0 { return }
    let error = BlockingThreadsError(name: name, code: code)
    for function in machine.withLock({ $0.failedToBegin() }) {
      if let fail = function.fail { fail(error) } else { function.call() }
    }
  }

  /// Calls a function on one of the threads and waits for what it comes to, whether the task is cancelled or not.
  func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { waiter in
      add { waiter.resume(returning: Result { () throws(Failure) in try body() }) }
    }
    return try result.get()
  }

  private func work() {
    var step = machine.withLock { $0.looked() }
    while true {
      switch step {
      case .call(let function):
        function.call()
        step = machine.withLock { $0.returned() }
      case .wait:
        if alarm.wait(timeout: .now() + idleTime) == .timedOut {
          if machine.withLock({ $0.timedOut() }) { return }
          // It has just been raised for a thread that waits, and nobody else is left.
          alarm.wait()
        }
        step = machine.withLock { $0.looked() }
      }
    }
  }
}
