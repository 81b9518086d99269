extension Hedge {
  /// Decides when the next attempt begins, and which event ends the run.
  struct StateMachine: Sendable {
    /// Why a wait for the next attempt has ended.
    enum WaitResult: Sendable {
      case timePassed
      case failed(any Error)
      case over
    }

    /// How the run ends.
    enum End: Sendable {
      /// In the result of an attempt.
      case result(Int)
      /// All attempts have failed, or the errors of others do not matter after an error.
      case failure
      /// The clock threw an error.
      case clockFailure(any Error)
      /// An attempt cancelled itself, or the run was cancelled.
      case cancellation

      var representsCancellation: Bool {
        switch self {
        case .result, .failure: false
        case .clockFailure(let error): error.meansCancellation
        case .cancellation: true
        }
      }
    }

    private enum State: Sendable {
      /// The errors that no wait has returned.
      case running(errors: FIFOQueue<any Error>, waiter: TaskWaiter?)
      case over(End)
    }

    private let attempts: Int
    private var state = State.running(errors: FIFOQueue(), waiter: nil)
    /// How the attempts ended, in order; nil while one runs.
    private var ends: [Completion<Success>?] = []
    private var endedCount = 0
    private var wait = 0
    private var hasTimePassed = false

    init(attempts: Int) { self.attempts = attempts }

    var isOver: Bool {
      if case .over = state { return true }
      return false
    }

    // MARK: Attempts

    var hasAttemptLeft: Bool { ends.count < attempts }
    var nextAttempt: Int { ends.count + 1 }

    /// - Returns: The number of the attempt, from 1; nil if no other one may begin.
    mutating func began() -> Int? {
      guard case .running = state, hasAttemptLeft else { return nil }
      ends.append(nil)
      return ends.count
    }

    /// - Returns: Whether the other attempts must be cancelled, and the waiter to resume.
    mutating func ended(
      _ attempt: Int, in completion: Completion<Success>, isFinal: Bool
    ) -> (isOver: Bool, TaskWaiter?) {
      ends[attempt - 1] = completion
      endedCount += 1
      guard case .running(var errors, let waiter) = state else { return (true, nil) }
      if completion.isResult { return (true, end(in: .result(attempt - 1))) }
      guard let error = completion.error else { return (true, end(in: .cancellation)) }
      if isFinal || endedCount == attempts { return (true, end(in: .failure)) }
      errors.append(error)
      state = .running(errors: errors, waiter: nil)
      return (false, waiter)
    }

    /// - Returns: The waiter to resume.
    mutating func stopped() -> TaskWaiter? { end(in: .cancellation) }

    /// - Returns: The waiter to resume.
    mutating func clockFailed(_ error: any Error) -> TaskWaiter? { end(in: .clockFailure(error)) }

    /// The first end counts.
    private mutating func end(in end: End) -> TaskWaiter? {
      guard case .running(_, let waiter) = state else { return nil }
      state = .over(end)
      return waiter
    }

    // MARK: Waits

    /// - Returns: The number of the wait.
    mutating func waitBegan(hasTimePassed: Bool) -> Int {
      wait += 1
      self.hasTimePassed = hasTimePassed
      return wait
    }

    /// - Returns: The waiter to resume. A timer of an earlier wait has no effect.
    mutating func timePassed(in wait: Int) -> TaskWaiter? {
      guard wait == self.wait, case .running(let errors, let waiter) = state else { return nil }
      hasTimePassed = true
      state = .running(errors: errors, waiter: nil)
      return waiter
    }

    /// - Returns: The waiter, to be resumed, if the wait is over.
    mutating func waited(_ waiter: TaskWaiter) -> TaskWaiter? {
      guard case .running(let errors, nil) = state, errors.count == 0, !hasTimePassed else {
        return waiter
      }
      state = .running(errors: errors, waiter: waiter)
      return nil
    }

    /// - Returns: Why the wait is over. An error counts before the time.
    mutating func waitEnded() -> WaitResult {
      guard case .running(var errors, nil) = state else { return .over }
      guard let error = errors.popFirst() else { return .timePassed }
      state = .running(errors: errors, waiter: nil)
      return .failed(error)
    }

    // MARK: The end

    /// How the attempts ended. All of them must have.
    var completions: [Completion<Success>] {
      ends.map { completion in
        guard let completion else { preconditionFailure("an attempt has not ended") }
        return completion
      }
    }

    /// How the run ends.
    var end: End {
      switch state {
      // The task was cancelled before a handler could be called.
      case .running: .cancellation
      case .over(let end): end
      }
    }
  }
}
