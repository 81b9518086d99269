extension UnsafeCurrentTask {
  /// The calling task. It is valid only while that task runs the caller.
  ///
  /// Not inlined: the size of the type is known only at run time, so the memory of every optional
  /// of it would be allocated by the task.
  ///
  /// - Precondition: A task calls this.
  @usableFromInline @inline(never) static var own: UnsafeCurrentTask {
    guard let task = unsafe withUnsafeCurrentTask(body: { unsafe $0 }) else {
      preconditionFailure("`UnsafeCurrentTask.own` must be used within a task")
    }
    return unsafe task
  }
}
