#if os(Linux)
  import Foundation

  extension Shape {
    /// Requests for a body of 100 bytes, at most one at a time on each connection.
    static func smallRequests(connections: Int, count: Int) -> Shape {
      let id = "http-\(connections)"
      let plural = connections == 1 ? "" : "s"
      return Shape(
        id: id,
        title: "\(count.grouped) requests for \(HTTPServer.smallSize) bytes, "
          + "\(connections) connection\(plural)",
        operations: count, unit: .requestsPerSecond, peerShapes: [id],
        missingProgram: missingCurl,
        ways: [
          requests("HTTPDataOperation", .ours, connections, count) {
            HTTPOperationsWay(connections: 64)
          },
          requests("URLSession", .swift, connections, count) { URLSessionWay(connections: 64) },
        ]
          + curl { curl in
            requests("curl", .peer, connections, count) { curl }
          })
    }

    private static func requests(
      _ name: String, _ role: Way.Role, _ width: Int, _ count: Int,
      by make: @escaping @Sendable () -> some HTTPWay
    ) -> Way {
      // Its connections are made in the round that does not count.
      let way = Prepared(make)
      return Way(name, role) {
        let url = try HTTPServerProcess.running().url("/small")
        return try await way.value.send(count, to: url, atOnce: width)
      }
    }

    /// A large body that is received in memory, beside `curl`, which drops it.
    ///
    /// - Parameter megabytes: Its size in units of 1,000,000 bytes.
    static func largeBodyToMemory(megabytes: Int) -> Shape {
      let id = "http-to-memory"
      return Shape(
        id: id, title: "a body of \(megabytes.grouped) MB, in memory", operations: megabytes,
        unit: .megabytesPerSecond, hasEqualWays: false, peerShapes: [id],
        missingProgram: missingCurl,
        ways: [
          body("HTTPDataOperation", .ours, megabytes) {
            try await HTTPOperationsWay(connections: 1).data(from: $0, limit: megabytes * 1_000_000)
          },
          body("URLSession", .swift, megabytes) {
            try await URLSessionWay(connections: 1).data(from: $0)
          },
        ]
          + curl { curl in
            body("curl to /dev/null", .peer, megabytes) { try await curl.download($0) }
          })
    }

    /// A large body that is written to `/dev/null`.
    ///
    /// - Parameter megabytes: Its size in units of 1,000,000 bytes.
    static func largeBodyToFile(megabytes: Int) -> Shape {
      let id = "http-to-file"
      return Shape(
        id: id, title: "a body of \(megabytes.grouped) MB, written to /dev/null",
        operations: megabytes, unit: .megabytesPerSecond, peerShapes: [id],
        missingProgram: missingCurl,
        ways: [
          body("HTTPDownloadOperation", .ours, megabytes) {
            try await HTTPOperationsWay(connections: 1).download($0)
          },
          body("URLSession, delegate that drops it", .swift, megabytes) {
            try await URLSessionDrop.data(from: $0)
          },
        ] + curl { curl in body("curl", .peer, megabytes) { try await curl.download($0) } })
    }

    private static func body(
      _ name: String, _ role: Way.Role, _ megabytes: Int,
      by receive: @escaping @Sendable (URL) async throws -> UInt64
    ) -> Way {
      Way(name, role) {
        try await receive(HTTPServerProcess.running().url("/large/\(megabytes * 1_000_000)"))
      }
    }

    private static var missingCurl: String? { CurlProgram() == nil ? "curl" : nil }

    private static func curl(_ way: (CurlProgram) -> Way) -> [Way] {
      CurlProgram().map(way).map { [$0] } ?? []
    }
  }
#endif
