#if canImport(Network)
  public import CompositeOperations
  internal import Network

  /// Knows of the network what the system knows (`NWPathMonitor`).
  ///
  /// Nobody has compiled it yet: there is no Apple platform where this package is built. What waits is a
  /// ``ConnectivityStatus``, which is tested.
  public final class PathMonitor: ConnectivityMonitor {
    private let status = ConnectivityStatus(isConnected: false)
    private let monitor = NWPathMonitor()

    public init() {
      monitor.pathUpdateHandler = { [status] path in
        status.update(isConnected: path.status == .satisfied)
      }
      monitor.start(queue: .global())
    }

    deinit { monitor.cancel() }

    public nonisolated(nonsending) func waitForConnectivity(
      in context: OperationContext
    ) async throws {
      try await status.waitForConnectivity(in: context)
    }
  }
#endif
