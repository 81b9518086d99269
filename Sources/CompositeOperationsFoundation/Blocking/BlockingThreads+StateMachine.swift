internal import CompositeOperations

extension BlockingThreads {
  /// What stands for a function in the line.
  package typealias Ticket = UInt64

  struct Function: Sendable {
    let call: @Sendable () -> Void
    let fail: (@Sendable (BlockingThreadsError) -> Void)?
  }

  /// Who works and who waits.
  struct StateMachine: Sendable {
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
    private var nextTicket: Ticket = 0
    private var waiting: [Ticket: Function] = [:]
    /// In the order in which they came; also tickets of functions that wait no longer.
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

    /// - Returns: What nobody will call now.
    mutating func removed(_ ticket: Ticket) -> Function? {
      guard let function = waiting.removeValue(forKey: ticket) else { return nil }
      // Not at each one: a line is looked through once for as many as are left in it.
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

    /// A thread has begun, or was woken.
    mutating func looked() -> Step {
      guard let function = next() else {
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

    /// A thread that was to begin could not be made.
    ///
    /// - Returns: What nobody is left to call.
    mutating func failedToBegin() -> [Function] {
      threadCount -= 1
      var left: [Function] = []
      if threadCount == 0 { while let function = next() { left.append(function) } }
      return left
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
