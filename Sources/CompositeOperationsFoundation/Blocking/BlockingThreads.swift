internal import CompositeOperations
package import Dispatch
internal import Foundation

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
  private let machine: Lock<StateMachine>
  /// Raised once for every thread that waits and is to look again.
  private let alarm = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - width: How many threads there are at most.
  ///   - name: What they are called, for debuggers.
  /// - Precondition: There is at least one.
  public convenience init(width: Int, name: String) {
    self.init(width: width, name: name, endingAfter: .seconds(10))
  }

  package init(width: Int, name: String, endingAfter idleTime: DispatchTimeInterval) {
    precondition(width >= 1, "At least 1 thread is needed, and not \(width).")
    self.width = width
    self.name = name
    self.idleTime = idleTime
    machine = Lock(StateMachine(width: width))
  }

  /// How many threads there are.
  package var threadCount: Int { machine.withLock { $0.threadCount } }
  /// How many functions run.
  public var runningCount: Int { machine.withLock { $0.runningCount } }
  /// How many functions wait for a thread.
  public var waitingCount: Int { machine.withLock { $0.waitingCount } }

  /// Has a function called on one of the threads.
  func add(_ function: @escaping @Sendable () -> Void) {
    switch machine.withLock({ $0.added(function) }) {
    case .nothing: break
    case .wake: alarm.signal()
    case .begin:
      let isNamed = DispatchSemaphore(value: 0)
      let thread = Thread {
        isNamed.wait()
        self.work()
      }
      thread.start()
      // On Linux a name is lost on a thread that has not started, or that names itself before this knows it.
      thread.name = name
      isNamed.signal()
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
        function()
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

extension BlockingThreads {
  /// Who works and who waits.
  private struct StateMachine: Sendable {
    typealias Function = @Sendable () -> Void

    enum Addition: Sendable {
      case nothing
      /// A thread that waits is to look again.
      case wake
      /// A thread is to begin.
      case begin
    }

    enum Step: Sendable {
      case call(Function)
      case wait
    }

    private let width: Int
    private(set) var threadCount = 0
    /// Of the threads that wait, how many nobody has woken.
    private var idleCount = 0
    private(set) var runningCount = 0
    private var line = Line<Function>()

    init(width: Int) { self.width = width }

    var waitingCount: Int { line.count }

    mutating func added(_ function: @escaping Function) -> Addition {
      line.append(function)
      if idleCount > 0 {
        idleCount -= 1
        return .wake
      }
      guard threadCount < width else { return .nothing }
      threadCount += 1
      return .begin
    }

    /// A thread has begun, or was woken.
    mutating func looked() -> Step {
      guard let function = line.popFirst() else {
        // Another one was quicker.
        idleCount += 1
        return .wait
      }
      runningCount += 1
      return .call(function)
    }

    mutating func returned() -> Step {
      runningCount -= 1
      return looked()
    }

    /// - Returns: Whether the thread is to end; if not, one that waits has been woken.
    mutating func timedOut() -> Bool {
      guard idleCount > 0 else { return false }
      idleCount -= 1
      threadCount -= 1
      return true
    }
  }
}
