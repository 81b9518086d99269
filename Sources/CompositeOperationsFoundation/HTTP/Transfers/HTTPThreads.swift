internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The threads on which requests do what blocks.
enum HTTPThreads {
  /// For making, beginning and cancelling the tasks of sessions, which on Linux waits for their queue. It is one
  /// thread, so that a task is never cancelled before it is begun, and more would wait for the same queue.
  private static let sessions = BlockingThreads(width: 1, name: "http")

  /// For files. Nobody else's functions run there, and so a download never waits behind them.
  static let files = BlockingThreads(width: 64, name: "http files")

  static func made(_ make: @escaping @Sendable () -> URLSessionTask) async -> URLSessionTask {
    await sessions.run(make)
  }

  static func begin(_ task: URLSessionTask) { sessions.add { task.resume() } }

  /// Cancels a task soon. At once may not be possible: on Linux, whoever cancels may be on the very queue that
  /// would have to be waited for.
  static func cancel(_ task: URLSessionTask) { sessions.add { task.cancel() } }
}
