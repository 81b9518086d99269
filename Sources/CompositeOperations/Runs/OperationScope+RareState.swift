extension OperationScope {
  /// The reason of a cancellation by the handle, and the tasks that wait for the report of a
  /// cancellation or for the end of the run.
  // Created on demand: few runs need it, and every run would pay for the memory.
  final class RareState: Sendable {
    typealias Waiter = CancellableWaiters.Waiter

    struct Cancellation: Sendable {
      let reason: String?
    }

    struct Content: Sendable {
      /// The run itself, which reports its end after its cancellation.
      private var report: Waiter?
      /// Tasks that wait until the run has finished.
      private var end = CancellableWaiters()
      /// The first cancellation by the handle.
      private(set) var cancellation: Cancellation?

      mutating func cancelled(because reason: String?) {
        if cancellation == nil { cancellation = Cancellation(reason: reason) }
      }

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

    private let content = Lock(Content())

    func withLock<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
      content.withLock(body)
    }
  }
}
