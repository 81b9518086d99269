/// A reference by which other threads cancel and escalate a task that has not ended.
///
/// Both functions are also functions of `Task`, so that they may be called outside the task.
@safe package struct RunningTask: @unchecked Sendable {
  private let task: UnsafeCurrentTask

  private init(_ task: UnsafeCurrentTask) { unsafe self.task = task }

  /// The calling task.
  static var own: RunningTask { unsafe RunningTask(UnsafeCurrentTask.own) }

  func cancel() { unsafe task.cancel() }
  func escalatePriority(to priority: TaskPriority) {
    unsafe task.escalatePriority(to: priority)
  }
}
