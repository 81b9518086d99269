internal import CompositeOperations

/// Passes the events of a process from the watching thread to the run.
final class ProcessMailbox: Sendable {
  private let machine = Lock(StateMachine())

  func launched(_ process: RunningProcess) { perform(machine.withLock { $0.launched(process) }) }

  /// - Returns: Whether to read no more until the run has taken the bytes.
  func received(_ bytes: ArraySlice<UInt8>, from stream: OutputStream) -> Bool {
    let (action, isFull) = machine.withLock { $0.received(bytes, from: stream) }
    perform(action)
    return isFull
  }

  func completed(_ completion: Result<ProcessCompletion, any Error>) {
    perform(machine.withLock { $0.completed(completion) })
  }

  /// Waits for an event. It must not be called concurrently.
  ///
  /// - Parameter onCapacity: Called for each output that has room again.
  func next(_ onCapacity: (OutputStream) -> Void) async -> ProcessUpdate {
    let update = await withCheckedContinuation { waiter in
      perform(machine.withLock { $0.waited(waiter) })
    }
    for stream in machine.withLock({ $0.takeResumedStreams() }) { onCapacity(stream) }
    return update
  }

  private func perform(_ action: StateMachine.Action) {
    switch action {
    case .none: break
    case .resume(let waiter, let update): waiter.resume(returning: update)
    }
  }
}
