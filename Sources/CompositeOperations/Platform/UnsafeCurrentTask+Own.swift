extension UnsafeCurrentTask {
  /// The task that calls this, for as long as it runs what asks.
  ///
  /// Not inlined: the type's size is the system's to say, and every optional of it would have a piece of the task's
  /// memory.
  ///
  /// - Precondition: Tasks call this.
  @usableFromInline @inline(never) static var own: UnsafeCurrentTask {
    guard let task = unsafe withUnsafeCurrentTask(body: { unsafe $0 }) else {
      preconditionFailure("`UnsafeCurrentTask.own` must be used within a task")
    }
    return unsafe task
  }
}
