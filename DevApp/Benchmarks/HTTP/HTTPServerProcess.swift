#if os(Linux)
  import Foundation

  /// The process of the server of the `http` shapes.
  final class HTTPServerProcess: Sendable {
    static let command = "http-server"

    /// The server of this run of the benchmarks.
    private static let shared = Prepared { Result { try HTTPServerProcess() } }

    static func running() throws -> HTTPServerProcess { try shared.value.get() }

    private let process: WorkerProcess
    /// `http://127.0.0.1:PORT`.
    let address: String

    private init() throws {
      signal(SIGPIPE, SIG_IGN)
      Interruptions.endChildren()
      process = try WorkerProcess(running: Self.command)
      address = "http://127.0.0.1:\(Int(try process.readNumbers(1)[0]))"
    }

    func url(_ path: String) throws -> URL {
      guard let url = URL(string: address + path) else {
        throw BenchmarkError("'\(path)' is not a path of a URL")
      }
      return url
    }

    /// Waits until the server holds as many requests to `/wait`.
    func wait(forRequests count: Int) throws {
      try process.write("wait \(count)")
      let answer = try process.read()
      guard answer == "waiting" else { throw BenchmarkError("the server answered '\(answer)'") }
    }

    /// The same on a thread of Dispatch.
    func waitAsynchronously(forRequests count: Int) async throws {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try self.wait(forRequests: count) })
        }
      }
    }

    /// Answers the requests that are held.
    func release() throws { try process.write("release") }
  }
#endif
