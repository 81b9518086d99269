internal import Synchronization

/// The place for a standby worker in a run that needs at most one of them.
///
/// There may be two workers for a short time, while one of them is being started or retired. This
/// costs an additional task.
struct StandbyPlace<Worker: StandbyWorker>: ~Copyable, Sendable {
  private let worker = Lock<Worker?>(nil)
  /// Whether there is a worker, or one is being created.
  private let isClaimed = Atomic(false)

  var isOccupied: Bool { isClaimed.load(ordering: .relaxed) }

  /// - Returns: Whether the place was free. The caller then creates a worker and calls
  ///   ``fill(with:)``.
  func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }

  func fill(with worker: Worker) { self.worker.withLock { $0 = worker } }

  /// Empties the place for the next worker.
  ///
  /// - Returns: The worker, for the caller to start.
  func take() -> Worker? { free(worker.withLock { $0.take() }) }

  /// Empties the place if this worker is in it, because it begins to work or ends.
  func remove(_ worker: Worker) {
    _ = free(self.worker.withLock { $0 === worker ? $0.take() : nil })
  }

  private func free(_ worker: Worker?) -> Worker? {
    if worker != nil { isClaimed.store(false, ordering: .releasing) }
    return worker
  }
}
