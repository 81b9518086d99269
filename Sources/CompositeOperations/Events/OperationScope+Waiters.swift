extension OperationScope {
  /// The tasks that wait for a run's cancellation to be reported or for its end.
  // One word, because every observed run has it and few runs have waiters.
  struct Waiters: Sendable {
    typealias Waiter = CancellableWaiters.Waiter

    private struct Lists: Sendable {
      /// The run itself, which reports its end after its cancellation.
      var report: Waiter?
      /// Tasks that wait until the run has finished.
      var end = CancellableWaiters()
    }

    /// One element, or none before the first wait.
    private var lists: [Lists] = []

    private mutating func withLists<Result>(_ body: (inout Lists) -> Result) -> Result {
      if lists.isEmpty { lists.append(Lists()) }
      return body(&lists[0])
    }

    mutating func waitsForReport(_ waiter: Waiter) { withLists { $0.report = waiter } }

    /// - Returns: The task that waits for the report, to be resumed.
    mutating func reportWasMade() -> Waiter? {
      lists.isEmpty ? nil : withLists { $0.report.take() }
    }

    /// - Returns: The number of a new waiter for the end.
    mutating func registerForEnd() -> Int { withLists { $0.end.register() } }

    /// - Returns: The waiter itself if it was cancelled before.
    mutating func waitsForEnd(_ waiter: Waiter, as number: Int) -> Waiter? {
      withLists { $0.end.waits(waiter, as: number) }
    }

    /// - Returns: The waiter to resume, if it waits for the end.
    mutating func cancelled(_ number: Int) -> Waiter? { withLists { $0.end.cancelled(number) } }

    /// - Returns: The tasks that wait for the end, to be resumed.
    mutating func finished() -> [Waiter] { withLists { $0.end.removeAll() } }
  }
}
