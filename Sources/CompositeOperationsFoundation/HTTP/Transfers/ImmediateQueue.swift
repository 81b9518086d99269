#if canImport(FoundationNetworking)
  internal import Foundation

  /// Runs the delegate calls of a session on Linux immediately, on the calling thread.
  ///
  /// With a queue that runs them later, the session receives whatever the network delivers, without
  /// limit if the disk is slower. Here the session waits for the delegate, so a slow disk slows the
  /// server down (back pressure).
  // Unchecked, as for all operation queues: it has no state of its own.
  final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
