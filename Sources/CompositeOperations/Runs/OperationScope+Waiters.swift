extension OperationScope {
  /// The tasks that wait for a run's cancellation to be reported or for its end.
  // Created on demand: few runs have waiters, and every observed run would pay for the memory.
  final class Waiters: Sendable {
    typealias Waiter = CancellableWaiters.Waiter

    struct Lists: Sendable {
      /// The run itself, which reports its end after its cancellation.
      private var report: Waiter?
      /// Tasks that wait until the run has finished.
      private var end = CancellableWaiters()

      mutating func waitsForReport(_ waiter: Waiter) { report = waiter }

      /// - Returns: The task that waits for the report, to be resumed.
      mutating func reportWasMade() -> Waiter? { report.take() }

      /// - Returns: The number of a new waiter for the end.
      mutating func registerForEnd() -> Int { end.register() }

      /// - Returns: The waiter itself if it was cancelled before.
      mutating func waitsForEnd(_ waiter: Waiter, as number: Int) -> Waiter? {
        end.waits(waiter, as: number)
      }

      /// - Returns: The waiter to resume, if it waits for the end.
      mutating func cancelled(_ number: Int) -> Waiter? { end.cancelled(number) }

      /// - Returns: The tasks that wait for the end, to be resumed.
      mutating func finished() -> [Waiter] { end.removeAll() }
    }

    private let lists = Lock(Lists())

    func withLock<Result: Sendable>(_ body: (inout Lists) -> Result) -> Result {
      lists.withLock(body)
    }
  }
}
