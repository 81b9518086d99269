internal import CompositeOperationsFoundation
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The threads for the blocking work of requests.
enum HTTPThreads {
  /// For creating, starting and cancelling the tasks of sessions, which on Linux waits for their
  /// queue. It is one thread, so that a task is never cancelled before it is started, and because
  /// more threads would wait for the same queue.
  private static let sessions = BlockingThreads(width: 1, name: "http")

  /// For files. No user functions run there, so a download never waits for them.
  static let files = BlockingThreads(width: 64, name: "http files")

  static func makeTask(_ make: @escaping @Sendable () -> URLSessionTask) async -> URLSessionTask {
    await sessions.run(make)
  }

  static func resume(_ task: URLSessionTask) { sessions.add { task.resume() } }

  /// Cancels a task asynchronously. On Linux, the calling thread may be on the very queue that a
  /// synchronous call would wait for.
  static func cancel(_ task: URLSessionTask) { sessions.add { task.cancel() } }
}
