public import CompositeOperations

/// Knows whether there is a network, and waits until there is.
///
/// ``HostProbe`` asks a host, ``ConnectivityStatus`` is told by whoever knows, and on Apple platforms
/// `PathMonitor` asks the system.
public protocol ConnectivityMonitor: Sendable {
  /// Waits until there is a network; not at all if there is one.
  ///
  /// - Parameter context: What the wait is a part of: its clock is to be waited by.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  nonisolated(nonsending) func waitForConnectivity(in context: OperationContext) async throws
}

extension Condition {
  /// Waits until there is a network.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let probe = HostProbe(host: "example.com", port: 443)
  /// let data = HTTPDataOperation(url).requiring(.connectivity(probe)).retryingHTTP()
  /// ```
  ///
  /// Inside of a retry, as here, every attempt waits for it. Observers see the wait as one for a condition, and a
  /// cancellation ends it at once. It never says no: give it a time with
  /// `timingOut(after:)`, if it may take too long.
  ///
  /// - Parameter monitor: What knows of the network.
  public static func connectivity(_ monitor: some ConnectivityMonitor) -> Condition {
    Condition("there is a network") { context in
      try await monitor.waitForConnectivity(in: context)
      return true
    }
  }
}
