internal import CompositeOperations

extension ProcessMailbox {
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<ProcessUpdate, Never>

    enum Action {
      case none
      case resume(Waiter, ProcessUpdate)
    }

    private enum State: Sendable {
      /// The run does not wait.
      case collecting(ProcessUpdate)
      /// The run waits, and nothing has record since its last call.
      case awaited(Waiter)
    }

    /// How many bytes may wait for the run in each output. At this limit, no more are read (back
    /// pressure).
    static let capacity = 64 << 10

    private var state = State.collecting(ProcessUpdate())
    private var full: [OutputStream] = []

    mutating func launched(_ process: RunningProcess) -> Action {
      record { $0.launched = process }
    }

    mutating func received(
      _ bytes: ArraySlice<UInt8>, from stream: OutputStream
    ) -> (Action, isFull: Bool) {
      var isFull = false
      let action = record {
        $0[stream] += bytes
        isFull = $0[stream].count >= Self.capacity
      }
      if isFull, !full.contains(stream) { full.append(stream) }
      return (action, isFull)
    }

    mutating func completed(_ completion: Result<ProcessCompletion, any Error>) -> Action {
      record { $0.completion = completion }
    }

    mutating func waited(_ waiter: Waiter) -> Action {
      switch state {
      case .collecting(let update) where update.isEmpty:
        state = .awaited(waiter)
        return .none
      case .collecting(let update):
        // Calls after the end return the end again.
        state = .collecting(ProcessUpdate(completion: update.completion))
        return .resume(waiter, update)
      case .awaited:
        preconditionFailure("two tasks wait for one process")
      }
    }

    /// - Returns: The outputs that were full and have room again.
    mutating func takeResumedStreams() -> [OutputStream] {
      defer { full = [] }
      return full
    }

    private mutating func record(_ change: (inout ProcessUpdate) -> Void) -> Action {
      switch state {
      case .collecting(var update):
        // Not held twice, because every change would then copy all accumulated bytes.
        state = .collecting(ProcessUpdate())
        change(&update)
        state = .collecting(update)
        return .none
      case .awaited(let waiter):
        var update = ProcessUpdate()
        change(&update)
        state = .collecting(ProcessUpdate(completion: update.completion))
        return .resume(waiter, update)
      }
    }
  }
}
