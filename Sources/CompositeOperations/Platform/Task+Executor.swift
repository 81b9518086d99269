extension Task where Success == Never, Failure == Never {
  /// Whether the current task prefers an executor to Swift's own thread pool.
  static var hasPreferredExecutor: Bool {
    unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor } != nil
  }

  /// The executor that the current task prefers to Swift's own thread pool, if there is one and the
  /// platform tells.
  static var preferredExecutor: (any TaskExecutor)? {
    guard #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *) else {
      return nil
    }
    return unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor?.asTaskExecutor() }
  }
}
