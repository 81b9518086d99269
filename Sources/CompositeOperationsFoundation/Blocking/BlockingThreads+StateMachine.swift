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
      case begin
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
    private var line = Line<Ticket>()

    init(width: Int) { self.width = width }

    var waitingCount: Int { waiting.count }

    mutating func added(_ function: Function) -> (Ticket, Addition) {
      let ticket = nextTicket
      nextTicket += 1
      waiting[ticket] = function
      line.append(ticket)
      return (ticket, addition())
    }

    private mutating func addition() -> Addition {
      if idleCount > 0 {
        idleCount -= 1
        return .wake
      }
      guard threadCount < width else { return .nothing }
      threadCount += 1
      return .begin
    }

    /// - Returns: The function, which will not be called; nil if it no longer waits.
    mutating func removed(_ ticket: Ticket) -> Function? {
      guard let function = waiting.removeValue(forKey: ticket) else { return nil }
      // Not at every removal: only when more than half of the tickets are stale.
      if line.count > 2 * waiting.count + 8 {
        var left = Line<Ticket>()
        while let ticket = line.popFirst() { if waiting[ticket] != nil { left.append(ticket) } }
        line = left
      }
      return function
    }

    private mutating func next() -> Function? {
      while let ticket = line.popFirst() {
        if let function = waiting.removeValue(forKey: ticket) { return function }
      }
      return nil
    }

    /// A thread has started, or was woken.
    mutating func looked() -> Step {
      guard let function = next() else {
        // Another thread took it first.
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

    /// A thread could not be created.
    ///
    /// - Returns: The functions that no thread is left to call.
    mutating func failedToBegin() -> [Function] {
      threadCount -= 1
      var left: [Function] = []
      if threadCount == 0 { while let function = next() { left.append(function) } }
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
