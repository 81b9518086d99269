internal import CompositeOperations

/// Workers that read the same file at the same time.
final class SQLiteReaders: Sendable {
  private let capacity: Int
  private let open: @Sendable () throws -> SQLiteConnection
  /// The workers, with how many requests each has.
  private let readers = Lock<[(worker: SQLiteWorker, load: Int)]>([])

  init(capacity: Int, open: @escaping @Sendable () throws -> SQLiteConnection) {
    self.capacity = capacity
    self.open = open
  }

  /// Gives a connection to a body, on its thread: one that is idle, a new one if there may be more, or the one with
  /// the shortest line.
  ///
  /// - Throws: What ``SQLiteWorker/run(_:)`` throws.
  func run<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    let (index, worker) = choose()
    defer { readers.withLock { $0[index].load -= 1 } }
    return try await worker.run(body)
  }

  /// Closes the files when the requests are through that are in the lines now.
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
