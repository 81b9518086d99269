#if os(Linux)
  import CompositeOperations
  import CompositeOperationsFoundation
  import Foundation
  import FoundationNetworking
  import HTTPOperations

  /// A way to send HTTP requests.
  protocol HTTPWay: Sendable {
    /// Sends requests, with a limit of those that run at a time.
    ///
    /// - Returns: The number of bytes of all bodies.
    func send(_ count: Int, to url: URL, atOnce width: Int) async throws -> UInt64
  }

  /// The operations of this package.
  struct HTTPOperationsWay: HTTPWay {
    let session: HTTPSession

    init(connections: Int) {
      var configuration = HTTPConfiguration()
      configuration.connectionsPerHost = connections
      configuration.proxy = .none
      session = HTTPSession(configuration)
    }

    func send(_ count: Int, to url: URL, atOnce width: Int) async throws -> UInt64 {
      let operation = HTTPDataOperation(url, session: session)
      let sum = Sum()
      try await ParallelOperation(width: .limited(to: width)) {
        (0..<count).lazy.map { _ in operation }
      } consumingResults: {
        sum.add(UInt64($0.body.count))
      }.run().get()
      return sum.value
    }

    /// Receives a body in memory.
    func data(from url: URL, limit: Int) async throws -> UInt64 {
      let options = HTTPRequestOptions(bodyLimit: limit)
      let operation = HTTPDataOperation(url, options: options, session: session)
      return UInt64(try await operation.run().get().body.count)
    }

    /// Writes a body to `/dev/null`.
    func download(_ url: URL) async throws -> UInt64 {
      let file = URL(fileURLWithPath: "/dev/null")
      let operation = HTTPDownloadOperation(url, to: file, session: session)
      return UInt64(try await operation.run().get().byteCount)
    }
  }

  /// Foundation's `URLSession`, with its tasks in a task group.
  final class URLSessionWay: HTTPWay {
    let session: URLSession

    init(connections: Int, delegate: (any URLSessionDelegate)? = nil) {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpMaximumConnectionsPerHost = connections
      session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    func send(_ count: Int, to url: URL, atOnce width: Int) async throws -> UInt64 {
      try await withThrowingTaskGroup(of: UInt64.self) { group in
        var sum: UInt64 = 0
        for index in 0..<count {
          if index >= width, let size = try await group.next() { sum += size }
          group.addTask { try await self.data(from: url) }
        }
        for try await size in group { sum += size }
        return sum
      }
    }

    /// Receives a body in memory.
    func data(from url: URL) async throws -> UInt64 {
      try await withCheckedThrowingContinuation { continuation in
        session.dataTask(with: url) { data, response, error in
          if let data, (response as? HTTPURLResponse)?.statusCode == 200 {
            continuation.resume(returning: UInt64(data.count))
          } else {
            continuation.resume(throwing: error ?? BenchmarkError("no answer"))
          }
        }.resume()
      }
    }
  }

  /// Foundation's `URLSession`, with a delegate that drops a body while it arrives.
  final class URLSessionDrop: NSObject, URLSessionDataDelegate, Sendable {
    private let size = Sum()
    private let end: @Sendable (Result<UInt64, any Error>) -> Void

    private init(end: @escaping @Sendable (Result<UInt64, any Error>) -> Void) { self.end = end }

    static func data(from url: URL) async throws -> UInt64 {
      try await withCheckedThrowingContinuation { continuation in
        let delegate = URLSessionDrop { continuation.resume(with: $0) }
        let session = URLSession(
          configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: url).resume()
        session.finishTasksAndInvalidate()
      }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      size.add(UInt64(data.count))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      end(error.map { .failure($0) } ?? .success(size.value))
    }
  }

  /// The program `curl`.
  struct CurlProgram: HTTPWay {
    private let path: String

    /// - Returns: Nil if it is not installed.
    init?() {
      guard let path = Programs.path(of: "curl") else { return nil }
      self.path = path
    }

    func send(_ count: Int, to url: URL, atOnce width: Int) async throws -> UInt64 {
      let urls = "\(url.absoluteString)?[1-\(count)]"
      if width == 1 { return try await run([urls]) }
      return try await run(["--parallel", "--parallel-max", "\(width)", urls])
    }

    /// Writes a body to `/dev/null`.
    func download(_ url: URL) async throws -> UInt64 { try await run([url.absoluteString]) }

    private func run(_ arguments: [String]) async throws -> UInt64 {
      let options = [
        "--disable", "--silent", "--show-error", "--fail", "--noproxy", "*", "--output",
        "/dev/null", "--write-out", "%{size_download}\\n",
      ]
      let result = try await ProcessOperation(path, arguments: options + arguments).run().get()
      return result.output.text.split(separator: "\n").reduce(0) { $0 + (UInt64($1) ?? 0) }
    }
  }
#endif
