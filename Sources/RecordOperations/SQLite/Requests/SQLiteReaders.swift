internal import CompositeOperations

/// A pool of connections that read the same file concurrently.
final class SQLiteReaders: Sendable {
  private let capacity: Int
  private let open: @Sendable () throws -> SQLiteConnection
  /// The workers, each with the number of its requests.
  private let readers = Lock<[(worker: SQLiteWorker, load: Int)]>([])

  init(capacity: Int, open: @escaping @Sendable () throws -> SQLiteConnection) {
    self.capacity = capacity
    self.open = open
  }

  /// Runs a body on the thread of a connection: an idle one, a new one below the capacity, or the
  /// one with the shortest queue.
  ///
  /// - Throws: Errors of ``SQLiteWorker/run(_:)``.
  func run<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    let (index, worker) = choose()
    defer { readers.withLock { $0[index].load -= 1 } }
    return try await worker.run(body)
  }

  /// Closes the connections after their pending requests.
  func close() async {
    for worker in readers.withLock({ $0.map(\.worker) }) { await worker.close() }
  }

  private func choose() -> (index: Int, worker: SQLiteWorker) {
    readers.withLock { readers in
      var index = readers.indices.min { readers[$0].load < readers[$1].load } ?? 0
      if readers.count < capacity, readers.isEmpty || readers[index].load > 0 {
        index = readers.count
        readers.append((SQLiteWorker("reader \(index)", open: open), 0))
      }
      readers[index].load += 1
      return (index, readers[index].worker)
    }
  }
}
