#if canImport(Network)
  public import CompositeOperations
  internal import Network

  /// A monitor of the network that uses the system (`NWPathMonitor`).
  ///
  /// This has never been compiled, because the package is not built on an Apple platform. It waits
  /// with a ``ConnectivityStatus``, which is tested.
  public final class PathMonitor: ConnectivityMonitor {
    private let status = ConnectivityStatus(isConnected: false)
    private let monitor = NWPathMonitor()

    /// Creates a monitor and starts it.
    public init() {
      monitor.pathUpdateHandler = { [status] path in
        status.update(isConnected: path.status == .satisfied)
      }
      monitor.start(queue: .global())
    }

    deinit { monitor.cancel() }

    /// Waits until there is a network. Returns at once if there is one.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public nonisolated(nonsending) func waitForConnectivity(
      in context: OperationContext
    ) async throws {
      try await status.waitForConnectivity(in: context)
    }
  }
#endif
