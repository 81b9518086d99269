/// A reference by which other threads cancel and escalate a task.
///
/// It does not keep the memory of the task: each user of it makes sure that something does. Both
/// functions are also functions of `Task`, so that they may be called outside the task.
@safe package struct RunningTask: @unchecked Sendable {
  // The size of an `UnsafeCurrentTask` is known only at run time.
  private let pointer: UnsafeRawPointer

  private init(_ task: UnsafeCurrentTask) {
    unsafe pointer = unsafeBitCast(task, to: UnsafeRawPointer.self)
  }

  /// The calling task.
  static var own: RunningTask { unsafe RunningTask(UnsafeCurrentTask.own) }

  private var task: UnsafeCurrentTask {
    unsafe unsafeBitCast(pointer, to: UnsafeCurrentTask.self)
  }

  func cancel() { unsafe task.cancel() }
  func escalatePriority(to priority: TaskPriority) {
    unsafe task.escalatePriority(to: priority)
  }
}
