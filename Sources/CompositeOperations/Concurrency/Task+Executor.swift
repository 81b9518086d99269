extension Task where Success == Never, Failure == Never {
  /// Whether the current task has a preferred executor, instead of Swift's own thread pool.
  static var hasPreferredExecutor: Bool {
    unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor } != nil
  }

  /// The preferred executor of the current task; nil if there is none, or if the platform cannot
  /// report it.
  package static var preferredExecutor: (any TaskExecutor)? {
    guard #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *) else {
      return nil
    }
    return unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor?.asTaskExecutor() }
  }
}

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

/// An executor that runs each job immediately, on the thread that enqueues it.
///
/// For tasks of the engine that do very little when they are resumed: waking another thread for
/// them would take a hundred times longer. If the end of such a task cancels other tasks, their
/// cancellation handlers run on the resuming thread. So it must not be resumed under a lock.
final class InlineExecutor: TaskExecutor {
  static let shared = InlineExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    // The unowned reference is valid, because the executor is never freed.
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
