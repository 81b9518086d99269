extension Task where Success == Never, Failure == Never {
  /// Whether the current task prefers an executor to Swift's own thread pool.
  static var hasPreferredExecutor: Bool {
    unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor } != nil
  }
}
