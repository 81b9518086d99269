internal import CompositeOperations

/// A pool of workers that read the same file concurrently.
package final class SQLiteWorkerPool: Sendable {
  private let capacity: Int
  private let makeWorker: @Sendable (_ index: Int) -> SQLiteWorker
  /// The workers, each with the number of its requests.
  private let workers = Lock<[(worker: SQLiteWorker, load: Int)]>([])

  /// - Parameters:
  ///   - capacity: The maximum number of workers.
  ///   - makeWorker: Creates a worker, given its index.
  package init(capacity: Int, makeWorker: @escaping @Sendable (_ index: Int) -> SQLiteWorker) {
    self.capacity = capacity
    self.makeWorker = makeWorker
  }

  /// Runs a body on the thread of a connection: an idle one, a new one below the capacity, or the
  /// one with the shortest queue.
  ///
  /// - Throws: Errors of ``SQLiteWorker/run(_:)``.
  package func run<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    let (index, worker) = choose()
    defer { workers.withLock { $0[index].load -= 1 } }
    return try await worker.run(body)
  }

  /// Begins to open the first connection, so that the first request does not wait for it. If that
  /// fails, the request tries again.
  package func openFirst() {
    let first = workers.withLock { workers -> SQLiteWorker? in
      guard workers.isEmpty else { return nil }
      let worker = makeWorker(0)
      workers.append((worker, 0))
      return worker
    }
    first?.open()
  }

  /// Closes the connections after their pending requests.
  package func close() async {
    for worker in workers.withLock({ $0.map(\.worker) }) { await worker.close() }
  }

  private func choose() -> (index: Int, worker: SQLiteWorker) {
    workers.withLock { workers in
      var index = workers.indices.min { workers[$0].load < workers[$1].load } ?? 0
      if workers.count < capacity, workers.isEmpty || workers[index].load > 0 {
        index = workers.count
        workers.append((makeWorker(index), 0))
      }
      workers[index].load += 1
      return (index, workers[index].worker)
    }
  }
}
