#if os(Linux)
  import Foundation

  extension Shape {
    /// Requests that wait for their responses are cancelled: the time until the last one has ended.
    ///
    /// - Parameter times: The number of measured cancellations.
    static func cancelledRequests(id: String, width: Int, times: Int) -> Shape {
      let requests = width == 1 ? "a request" : "\(width) requests"
      return cancellations(
        id: id, title: "\(requests) waiting for a response: cancellation to end", times: times,
        urlSession: URLSessionWay(connections: width), isSlowWithURLSession: width > 1
      ) { way, count in
        let server = try HTTPServerProcess.running()
        let url = try server.url("/wait")
        return try await durations(count) {
          try await server.waitAsynchronously(forRequests: 0)
          let requests = way.start(width, to: url)
          try await server.waitAsynchronously(forRequests: width)
          return requests
        }
      }
    }

    /// A request is cancelled while an endless body arrives: the time until it has ended.
    ///
    /// - Parameter times: The number of measured cancellations.
    static func cancelledBody(times: Int) -> Shape {
      cancellations(
        id: "http-cancel-body", title: "a body that arrives at full speed: cancellation to end",
        times: times,
        urlSession: URLSessionWay(connections: 1), isSlowWithURLSession: true
      ) { way, count in
        let url = try HTTPServerProcess.running().url("/large/\(1 << 50)")
        return try await durations(count) {
          let hasArrived = Muster(expecting: 1)
          let request = way.receive(url, arrivingAt: hasArrived, after: 4_000_000)
          await hasArrived.untilFull()
          return request
        }
      }
    }

    /// - Parameters:
    ///   - isSlowWithURLSession: Whether `URLSession` needs so long that only the median of a
    ///     tenth of the cancellations is measured.
    ///   - durations: Measures a number of cancellations, in nanoseconds.
    private static func cancellations(
      id: String, title: String, times: Int, urlSession: URLSessionWay,
      isSlowWithURLSession: Bool,
      _ durations: @escaping @Sendable (any HTTPCancellationWay, Int) async throws -> [Double]
    ) -> Shape {
      let median = ("median", 0.5)
      let percentile = ("99th percentile", 0.99)
      let way = { (name: String, role: Way.Role, way: any HTTPCancellationWay, count: Int) in
        { (figure: (name: String, portion: Double)) in
          Way(
            "\(name), \(figure.name)", role,
            sampling: {
              let durations = try await durations(way, count).sorted()
              let rank = Int((figure.portion * Double(durations.count)).rounded(.up))
              // Nothing is computed, so all ways agree.
              return Sample(amount: durations[rank - 1], checksum: UInt64(times))
            })
        }
      }
      let ours = way("HTTPOperations", .ours, HTTPOperationsWay(connections: 64), times)
      let other = way(
        "URLSession", .swift, urlSession, isSlowWithURLSession ? max(1, times / 10) : times)
      return Shape(
        id: id, title: title, operations: times, unit: .microseconds, hasEqualWays: false,
        peerShapes: [id],
        ways: [ours(median), other(median), ours(percentile)]
          + (isSlowWithURLSession ? [] : [other(percentile)]))
    }

    /// The times from the cancellation to the end, in nanoseconds.
    private static func durations(
      _ count: Int, _ start: () async throws -> RunningRequests
    ) async throws -> [Double] {
      var durations: [Double] = []
      for _ in 0..<count {
        let requests = try await start()
        let start = ContinuousClock.now
        requests.cancel()
        await requests.end()
        durations.append(Stopwatch.nanoseconds(since: start))
      }
      return durations
    }
  }
#endif
