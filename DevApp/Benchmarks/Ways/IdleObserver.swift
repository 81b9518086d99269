import CompositeOperations

/// Sees every event and does nothing: the price of being observed at all.
struct IdleObserver: OperationObserver {
  func observe(_ event: OperationEvent) {}
}
