import CompositeOperations

/// An observer that ignores every event, for the cost of being observed at all.
struct IdleObserver: OperationObserver {
  func observe(_ event: OperationEvent) {}
}
