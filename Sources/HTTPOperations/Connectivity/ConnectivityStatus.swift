public import CompositeOperations

/// A monitor of the network that your code updates, such as from another framework or in a test.
///
/// ```swift
/// import HTTPOperations
///
/// let status = ConnectivityStatus(isConnected: false)
/// let data = HTTPDataOperation(url).requiring(.connectivity(status))
/// status.update(isConnected: true)
/// ```
public final class ConnectivityStatus: ConnectivityMonitor {
  private let machine: Lock<StateMachine>

  /// Creates a monitor.
  ///
  /// - Parameter isConnected: Whether there is a network at first.
  public init(isConnected: Bool) { machine = Lock(StateMachine(isConnected: isConnected)) }

  /// Whether there is a network, by the last update.
  public var isConnected: Bool { machine.withLock { $0.isConnected } }

  /// Updates whether there is a network. If there is, all waiters resume.
  public func update(isConnected: Bool) {
    for waiter in machine.withLock({ $0.updated(isConnected: isConnected) }) { waiter.resume() }
  }

  /// Waits until there is a network. Returns at once if there is one.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public nonisolated(nonsending) func waitForConnectivity(
    in context: OperationContext
  ) async throws {
    let id = machine.withLock { $0.newWaiter() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        switch machine.withLock({ $0.waits(waiter, as: id) }) {
        case .wait: break
        case .resume: waiter.resume()
        case .cancel: waiter.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      machine.withLock { $0.cancelled(id) }?.resume(throwing: CancellationError())
    }
  }
}
