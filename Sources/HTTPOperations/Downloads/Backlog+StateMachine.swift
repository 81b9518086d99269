internal import CompositeOperations

extension Backlog {
  typealias Waiter = CheckedContinuation<Result<Void, any Error>, Never>

  /// Tracks the pending steps, and the waiters.
  struct StateMachine: Sendable {
    enum Addition: Sendable {
      case nothing
      /// Start to work, on a thread.
      case work
      case waitForRoom
      case fail(any Error)
    }

    typealias Queue = FIFOQueue<(byteCount: Int, step: Step)>

    enum Next: Sendable {
      case perform(Int, Step)
      /// The steps that are not performed are freed outside the lock.
      case end(Waiter?, Result<Void, any Error>, unperformed: Queue)
    }

    private let limit: Int
    private var queue = Queue()
    /// The bytes of the pending steps and of the current one.
    private var byteCount = 0
    private var isWorking = false
    private var isProducerWaiting = false
    private var result = Result<Void, any Error>.success(())
    private var waiter: Waiter?
    private(set) var isStopped = false

    init(limit: Int) { self.limit = limit }

    mutating func added(_ byteCount: Int, _ step: @escaping Step) -> Addition {
      if case .failure(let error) = result { return .fail(error) }
      if isStopped { return .nothing }
      if self.byteCount >= limit {
        isProducerWaiting = true
        return .waitForRoom
      }
      queue.append((byteCount, step))
      self.byteCount += byteCount
      defer { isWorking = true }
      return isWorking ? .nothing : .work
    }

    mutating func nextStep() -> Next {
      if case .success = result, let (byteCount, step) = queue.popFirst() {
        return .perform(byteCount, step)
      }
      let unperformed = exchange(&queue, with: Queue())
      byteCount = 0
      isWorking = false
      defer { waiter = nil }
      return .end(waiter, result, unperformed: unperformed)
    }

    /// - Returns: Whether to wake the producer.
    mutating func performed(_ byteCount: Int, _ result: Result<Void, any Error>) -> Bool {
      self.result = result
      self.byteCount -= byteCount
      // Not for every few bytes.
      if case .success = result, self.byteCount > limit / 2 { return false }
      return producerIsWoken()
    }

    /// - Returns: Whether to wake the producer.
    mutating func stopped() -> Bool {
      isStopped = true
      return producerIsWoken()
    }

    private mutating func producerIsWoken() -> Bool {
      defer { isProducerWaiting = false }
      return isProducerWaiting
    }

    /// - Returns: The result, if no step is pending; nil if the waiter has to wait.
    mutating func finished(_ waiter: Waiter) -> Result<Void, any Error>? {
      if !isWorking { return result }
      self.waiter = waiter
      return nil
    }
  }
}
