internal import CompositeOperations

extension BlockingThreads {
  /// Identifies a function in the queue.
  package typealias Ticket = UInt64

  struct Function: Sendable {
    let call: @Sendable () -> Void
    let fail: (@Sendable (BlockingThreadsError) -> Void)?
  }

  /// Tracks the threads and the waiting functions.
  struct StateMachine: Sendable {
    enum Addition: Sendable {
      case nothing
      /// Wake an idle thread.
      case wake
      /// Start a thread.
      case startThread
    }

    enum Step: Sendable {
      case call(Function)
      case wait
    }

    private let width: Int
    private(set) var threadCount = 0
    /// How many idle threads have not been woken.
    private var idleCount = 0
    private(set) var runningCount = 0
    private var nextTicket: Ticket = 0
    private var waiting: [Ticket: Function] = [:]
    /// In FIFO order. It also has tickets of functions that no longer wait.
    private var queue = FIFOQueue<Ticket>()

    init(width: Int) { self.width = width }

    var waitingCount: Int { waiting.count }

    mutating func added(_ function: Function) -> (Ticket, Addition) {
      let ticket = nextTicket
      nextTicket += 1
      waiting[ticket] = function
      queue.append(ticket)
      return (ticket, addition())
    }

    private mutating func addition() -> Addition {
      if idleCount > 0 {
        idleCount -= 1
        return .wake
      }
      guard threadCount < width else { return .nothing }
      threadCount += 1
      return .startThread
    }

    /// - Returns: The function, which will not be called; nil if it no longer waits.
    mutating func removed(_ ticket: Ticket) -> Function? {
      guard let function = waiting.removeValue(forKey: ticket) else { return nil }
      // Not at every removal: only when more than half of the tickets are stale.
      if queue.count > 2 * waiting.count + 8 {
        var left = FIFOQueue<Ticket>()
        while let ticket = queue.popFirst() { if waiting[ticket] != nil { left.append(ticket) } }
        queue = left
      }
      return function
    }

    private mutating func popFirst() -> Function? {
      while let ticket = queue.popFirst() {
        if let function = waiting.removeValue(forKey: ticket) { return function }
      }
      return nil
    }

    /// A thread has started, or was woken, and takes the first function.
    mutating func nextStep() -> Step {
      guard let function = popFirst() else {
        // Another thread took it first.
        idleCount += 1
        return .wait
      }
      runningCount += 1
      return .call(function)
    }

    mutating func returned() -> Step {
      runningCount -= 1
      return nextStep()
    }

    /// A thread could not be created.
    ///
    /// - Returns: The functions that no thread is left to call.
    mutating func threadCreationFailed() -> [Function] {
      threadCount -= 1
      var left: [Function] = []
      if threadCount == 0 { while let function = popFirst() { left.append(function) } }
      return left
    }

    /// - Returns: Whether the thread must end. If not, an idle thread has been woken.
    mutating func timedOut() -> Bool {
      guard idleCount > 0 else { return false }
      idleCount -= 1
      threadCount -= 1
      return true
    }
  }
}
