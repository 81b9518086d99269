public import CompositeOperations

/// A monitor of the network that somebody tells how things are: another framework, or a test.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let status = ConnectivityStatus(isConnected: false)
/// let data = HTTPDataOperation(url).requiring(.connectivity(status))
/// status.update(isConnected: true)
/// ```
public final class ConnectivityStatus: ConnectivityMonitor {
  private let machine: Lock<StateMachine>

  /// - Parameter isConnected: Whether there is a network at first.
  public init(isConnected: Bool) { machine = Lock(StateMachine(isConnected: isConnected)) }

  /// Whether there is a network, as far as it was told.
  public var isConnected: Bool { machine.withLock { $0.isConnected } }

  /// Tells whether there is a network. Where there is, everybody who waits goes on.
  public func update(isConnected: Bool) {
    for waiter in machine.withLock({ $0.updated(isConnected: isConnected) }) { waiter.resume() }
  }

  public nonisolated(nonsending) func waitForConnectivity(
    in context: OperationContext
  ) async throws {
    let id = machine.withLock { $0.newWaiter() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        switch machine.withLock({ $0.waits(waiter, as: id) }) {
        case .wait: break
        case .goOn: waiter.resume()
        case .stop: waiter.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      machine.withLock { $0.cancelled(id) }?.resume(throwing: CancellationError())
    }
  }
}
