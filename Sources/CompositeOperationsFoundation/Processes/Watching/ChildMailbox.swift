internal import CompositeOperations

/// Passes the events of a process from the watching thread to the run.
final class ChildMailbox: Sendable {
  private let machine = Lock(StateMachine())

  func launched(_ process: RunningProcess) { act(machine.withLock { $0.launched(process) }) }

  /// - Returns: Whether to read no more until the run has taken the bytes.
  func wrote(_ bytes: ArraySlice<UInt8>, to stream: OutputStream) -> Bool {
    let (action, isFull) = machine.withLock { $0.wrote(bytes, to: stream) }
    act(action)
    return isFull
  }

  func ended(_ end: Result<ChildEnd, any Error>) { act(machine.withLock { $0.ended(end) }) }

  /// Waits for an event. It must not be called concurrently.
  ///
  /// - Parameter onRoom: Called for each output that has room again.
  func next(_ onRoom: (OutputStream) -> Void) async -> ChildNews {
    let news = await withCheckedContinuation { waiter in
      act(machine.withLock { $0.waited(waiter) })
    }
    for stream in machine.withLock({ $0.taken() }) { onRoom(stream) }
    return news
  }

  private func act(_ action: StateMachine.Action) {
    switch action {
    case .none: break
    case .resume(let waiter, let news): waiter.resume(returning: news)
    }
  }
}
