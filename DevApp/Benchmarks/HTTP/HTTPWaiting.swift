#if os(Linux)
  import Foundation
  import Synchronization

  extension Shape {
    /// The heap in use while many requests wait for their responses, each on its own connection.
    static func waitingRequests(count: Int) -> Shape {
      Shape(
        id: "http-waiting", title: "heap of \(count.grouped) requests that wait for responses",
        operations: count, unit: .bytesPerOperation,
        ways: [
          waiting("HTTPDataOperation", .ours, count) { HTTPOperationsWay(connections: count) },
          waiting("URLSession", .swift, count) { URLSessionWay(connections: count) },
        ])
    }

    private static func waiting(
      _ name: String, _ role: Way.Role, _ count: Int,
      by make: @escaping @Sendable () -> some HTTPWay
    ) -> Way {
      .blocking(
        name, role,
        sampling: {
          OpenFiles.raiseLimit()
          let server = try HTTPServerProcess.running()
          let url = try server.url("/wait")
          let before = settledHeap()
          let reading = Mutex(Result<Int, any Error>.failure(BenchmarkError("no reading")))
          DispatchQueue.global().async {
            let result = Result {
              try server.wait(forRequests: count)
              return settledHeap()
            }
            reading.withLock { $0 = result }
            try? server.release()
          }
          let checksum = try BlockingWait.value {
            try await make().send(count, to: url, atOnce: count)
          }
          let bytes = try reading.withLock(\.self).get()
          return Sample(amount: Double(bytes - before), checksum: checksum)
        })
    }

    // MARK: Other requests meanwhile

    /// Requests of a session with many others that wait for their responses. With `URLSession`, each
    /// takes tens of milliseconds, so it would take minutes.
    static func requestsBesideWaiting(count: Int, waiting waitingCount: Int) -> Shape {
      Shape(
        id: "http-beside-waiting",
        title: "\(count.grouped) requests, 8 at a time, beside \(waitingCount.grouped) that wait",
        operations: count, unit: .requestsPerSecond,
        ways: [
          besideWaiting("HTTPDataOperation", .ours, count, waitingCount) {
            HTTPOperationsWay(connections: waitingCount + 8)
          }
        ])
    }

    private static func besideWaiting(
      _ name: String, _ role: Way.Role, _ count: Int, _ waitingCount: Int,
      by make: @escaping @Sendable () -> some HTTPWay
    ) -> Way {
      Way(
        name, role,
        sampling: {
          OpenFiles.raiseLimit()
          let server = try HTTPServerProcess.running()
          let (url, waitingURL) = (try server.url("/small"), try server.url("/wait"))
          let way = make()
          async let waiting = way.send(waitingCount, to: waitingURL, atOnce: waitingCount)
          let sample: Result<Sample, any Error>
          do {
            try await server.waitAsynchronously(forRequests: waitingCount)
            let start = ContinuousClock.now
            let checksum = try await way.send(count, to: url, atOnce: 8)
            let nanoseconds = Stopwatch.nanoseconds(since: start)
            sample = .success(Sample(amount: nanoseconds, checksum: checksum))
          } catch {
            sample = .failure(error)
          }
          try server.release()
          _ = try await waiting
          return try sample.get()
        })
    }
  }
#endif
