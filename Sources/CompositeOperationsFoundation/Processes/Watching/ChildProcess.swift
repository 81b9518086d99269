/// One run of a program, as its task and the thread that watches it know it.
final class ChildProcess: Sendable {
  let operation: ProcessOperation
  let mailbox = ChildMailbox()
  let hold = ProcessHold()
  private let watcher: ProcessWatcher

  /// - Throws: ``ProcessLaunchError`` if processes cannot be watched.
  init(_ operation: ProcessOperation) throws(ProcessLaunchError) {
    self.operation = operation
    do { watcher = try ProcessWatcher.next() } catch {
      throw ProcessLaunchError(operation, .system(error))
    }
  }

  func begin() { watcher.post(.begin(self)) }

  /// Has the process group ended, in order and then by force.
  func cancel() { watcher.post(.cancel(self)) }

  /// Waits for something to happen.
  func next() async -> ChildNews {
    await mailbox.next { watcher.post(.read($0, of: self)) }
  }
}
