internal import CompositeOperations

extension OpenTelemetryStream {
  /// The runs that go on, and those that are to be sent.
  struct StateMachine: Sendable {
    private enum State: Sendable {
      case open
      /// What is left is sent, and nothing comes any more.
      case finished
    }

    private var state = State.open
    private var assembler: TraceAssembler
    private var queue: [TraceAssembler.Step] = []
    private let capacity: Int
    private(set) var droppedCount = 0
    private(set) var error: (any Error)?

    init(from beginning: TraceBeginning, capacity: Int) {
      assembler = TraceAssembler(from: beginning.time)
      self.capacity = capacity
    }

    /// - Returns: Whether there is something to send where there was nothing.
    mutating func observed(_ entry: TraceEntry) -> Bool {
      switch state {
      case .finished: return false
      case .open:
        let step = assembler.observed(entry)
        if case .nothing = step { return false }
        if queue.count >= capacity {
          droppedCount += 1
          return false
        }
        queue.append(step)
        return queue.count == 1
      }
    }

    mutating func taken(atMost count: Int) -> [TraceAssembler.Step] {
      let batch = Array(queue.prefix(count))
      queue.removeFirst(batch.count)
      return batch
    }

    /// - Returns: The error of an earlier request, to be freed outside the lock.
    mutating func failed(
      _ batch: [TraceAssembler.Step], by error: any Error
    ) -> (any Error)? {
      droppedCount += batch.count
      return exchange(&self.error, with: error)
    }

    /// Runs that go on are to be sent as they are, whether there is room or not.
    mutating func finished() {
      switch state {
      case .finished: break
      case .open:
        state = .finished
        queue += assembler.unfinished.map { .ended($0) }
      }
    }

    /// Nobody sends any more.
    mutating func cancelled() {
      droppedCount += queue.count
      queue = []
    }
  }
}
