public import CompositeOperations

/// A monitor that waits until there is a network.
///
/// ``HostProbe`` connects to a host, ``ConnectivityStatus`` is updated by your code, and on Apple
/// platforms `PathMonitor` uses the system.
public protocol ConnectivityMonitor: Sendable {
  /// Waits until there is a network. Returns at once if there is one.
  ///
  /// - Parameter context: The context of the wait, whose clock must be used for delays.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  nonisolated(nonsending) func waitForConnectivity(in context: OperationContext) async throws
}

extension Condition {
  /// A condition that waits until there is a network.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let probe = HostProbe(host: "example.com", port: 443)
  /// let data = HTTPDataOperation(url).requiring(.connectivity(probe)).retryingHTTP()
  /// ```
  ///
  /// Inside a retry, as in the example, every attempt waits for the network. Observers see this as
  /// a wait for a condition. Without a network, the condition waits, and the operation is not
  /// skipped. A cancellation ends the wait at once. To limit the wait, use `timingOut(after:)`.
  ///
  /// - Parameter monitor: The monitor of the network.
  public static func connectivity(_ monitor: some ConnectivityMonitor) -> Condition {
    Condition("there is a network") { context in
      try await monitor.waitForConnectivity(in: context)
      return true
    }
  }
}
