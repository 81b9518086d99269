internal import CompositeOperations
internal import OperationTracing

extension OpenTelemetryStream {
  /// Tracks the runs in progress, and the queue of ended runs to send.
  struct StateMachine: Sendable {
    private enum State: Sendable {
      case open
      /// The queue is sent within a limit, and events are ignored.
      case finished(within: Duration)
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

    /// - Returns: Whether the queue was empty and now is not.
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

    /// - Parameter batch: The runs that are dropped.
    /// - Returns: The error of an earlier request, to be freed outside the lock.
    mutating func failed(
      _ batch: [TraceAssembler.Step] = [], by error: any Error
    ) -> (any Error)? {
      droppedCount += batch.count
      return exchange(&self.error, with: error)
    }

    /// How long sending may take after the end of the stream.
    var limitOfEnd: Duration {
      switch state {
      case .open: .zero
      case .finished(let limit): limit
      }
    }

    /// Adds the runs in progress to the queue as they are, regardless of its capacity.
    mutating func finished(within limit: Duration) {
      switch state {
      case .finished: break
      case .open:
        state = .finished(within: limit)
        queue += assembler.unfinished.map { .ended($0) }
      }
    }

    /// Drops the queue, because sending has ended.
    mutating func cancelled() {
      droppedCount += queue.count
      queue = []
    }
  }
}
