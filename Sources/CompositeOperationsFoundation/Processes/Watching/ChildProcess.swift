internal import Synchronization

/// One run of a program, as its task and the thread that watches it know it.
final class ChildProcess: Sendable {
  let operation: ProcessOperation
  let mailbox = ChildMailbox()
  let hold = ProcessHold()
  private let watcher: ProcessWatcher
  private let cancelled = Atomic<Bool>(false)

  /// - Throws: ``ProcessLaunchError`` if processes cannot be watched.
  init(_ operation: ProcessOperation) throws(ProcessLaunchError) {
    self.operation = operation
    do { watcher = try ProcessWatcher.next() } catch {
      throw ProcessLaunchError(operation, .system(error))
    }
  }

  func begin() { watcher.post(.begin(self)) }

  /// Has the process group ended, in order and then by force.
  func cancel() {
    cancelled.store(true, ordering: .releasing)
    watcher.post(.cancel(self))
  }

  /// Whether it need not be started any more.
  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Waits for something to happen.
  func next() async -> ChildNews {
    await mailbox.next { watcher.post(.read($0, of: self)) }
  }
}
