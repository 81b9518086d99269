internal import CompositeOperations

extension ChildMailbox {
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<ChildNews, Never>

    enum Action {
      case none
      case resume(Waiter, ChildNews)
    }

    private enum State: Sendable {
      /// The run does not wait.
      case gathering(ChildNews)
      /// The run waits, and nothing has happened since its last call.
      case awaited(Waiter)
    }

    /// How many bytes may wait for the run in each output. At this limit, no more are read (back
    /// pressure).
    static let capacity = 64 << 10

    private var state = State.gathering(ChildNews())
    private var full: [OutputStream] = []

    mutating func launched(_ process: RunningProcess) -> Action {
      happened { $0.launched = process }
    }

    mutating func wrote(
      _ bytes: ArraySlice<UInt8>, to stream: OutputStream
    ) -> (Action, isFull: Bool) {
      var isFull = false
      let action = happened {
        $0[stream] += bytes
        isFull = $0[stream].count >= Self.capacity
      }
      if isFull, !full.contains(stream) { full.append(stream) }
      return (action, isFull)
    }

    mutating func ended(_ end: Result<ChildEnd, any Error>) -> Action { happened { $0.end = end } }

    mutating func waited(_ waiter: Waiter) -> Action {
      switch state {
      case .gathering(let news) where news.isEmpty:
        state = .awaited(waiter)
        return .none
      case .gathering(let news):
        // Calls after the end return the end again.
        state = .gathering(ChildNews(end: news.end))
        return .resume(waiter, news)
      case .awaited:
        preconditionFailure("two tasks wait for one process")
      }
    }

    /// - Returns: The outputs that were full and have room again.
    mutating func taken() -> [OutputStream] {
      defer { full = [] }
      return full
    }

    private mutating func happened(_ change: (inout ChildNews) -> Void) -> Action {
      switch state {
      case .gathering(var news):
        // Not held twice, because every change would then copy all accumulated bytes.
        state = .gathering(ChildNews())
        change(&news)
        state = .gathering(news)
        return .none
      case .awaited(let waiter):
        var news = ChildNews()
        change(&news)
        state = .gathering(ChildNews(end: news.end))
        return .resume(waiter, news)
      }
    }
  }
}
