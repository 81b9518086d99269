internal import CompositeOperations

extension Backlog {
  typealias Waiter = CheckedContinuation<Result<Void, any Error>, Never>

  /// What is still to be done, and who waits for what.
  struct StateMachine: Sendable {
    enum Addition: Sendable {
      case nothing
      /// A thread is to begin.
      case work
      case waitForRoom
      case fail(any Error)
    }

    enum Next: Sendable {
      case perform(Int, Step)
      /// The steps that will not be done are freed outside the lock.
      case end(Waiter?, Result<Void, any Error>, undone: Line<(byteCount: Int, step: Step)>)
    }

    private let limit: Int
    private var line = Line<(byteCount: Int, step: Step)>()
    /// Of the steps that wait, and of the one that is being done.
    private var byteCount = 0
    private var isWorking = false
    private var isOwnerWaiting = false
    private var result = Result<Void, any Error>.success(())
    private var waiter: Waiter?
    private(set) var isStopped = false

    init(limit: Int) { self.limit = limit }

    mutating func added(_ byteCount: Int, _ step: @escaping Step) -> Addition {
      if case .failure(let error) = result { return .fail(error) }
      if isStopped { return .nothing }
      if self.byteCount >= limit {
        isOwnerWaiting = true
        return .waitForRoom
      }
      line.append((byteCount, step))
      self.byteCount += byteCount
      defer { isWorking = true }
      return isWorking ? .nothing : .work
    }

    mutating func looked() -> Next {
      if case .success = result, let (byteCount, step) = line.popFirst() {
        return .perform(byteCount, step)
      }
      let undone = exchange(&line, with: Line())
      byteCount = 0
      isWorking = false
      defer { waiter = nil }
      return .end(waiter, result, undone: undone)
    }

    /// - Returns: Whether the owner is to look again.
    mutating func performed(_ byteCount: Int, _ result: Result<Void, any Error>) -> Bool {
      self.result = result
      self.byteCount -= byteCount
      // Not for every few bytes.
      if case .success = result, self.byteCount > limit / 2 { return false }
      return ownerIsWoken()
    }

    /// - Returns: Whether the owner is to look again.
    mutating func stopped() -> Bool {
      isStopped = true
      return ownerIsWoken()
    }

    private mutating func ownerIsWoken() -> Bool {
      defer { isOwnerWaiting = false }
      return isOwnerWaiting
    }

    /// - Returns: What it came to, if nothing is left to be done.
    mutating func finished(_ waiter: Waiter) -> Result<Void, any Error>? {
      if !isWorking { return result }
      self.waiter = waiter
      return nil
    }
  }
}
