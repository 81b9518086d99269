#if canImport(FoundationNetworking)
  internal import Foundation

  /// Does at once, where it stands, what a session of Linux wants its delegate to be told.
  ///
  /// A queue that does it later takes in whatever the network brings, without end if the disk is slower. Here
  /// the session does not read on before the delegate is done, so that a server is held up by a slow disk.
  // Unchecked as that of all operation queues is: it has no state of its own.
  final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
