extension Task where Success == Never, Failure == Never {
  /// Whether the current task has a preferred executor, instead of Swift's own thread pool.
  static var hasPreferredExecutor: Bool {
    unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor } != nil
  }

  /// The preferred executor of the current task; nil if there is none, or if the platform cannot
  /// report it.
  static var preferredExecutor: (any TaskExecutor)? {
    guard #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *) else {
      return nil
    }
    return unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor?.asTaskExecutor() }
  }
}
