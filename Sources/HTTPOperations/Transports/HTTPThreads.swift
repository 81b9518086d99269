internal import CompositeOperationsFoundation

/// The threads for the blocking work of requests.
enum HTTPThreads {
  /// For files. No user functions run there, so a download never waits for them.
  static let files = BlockingThreads(width: 64, name: "http files")
}
