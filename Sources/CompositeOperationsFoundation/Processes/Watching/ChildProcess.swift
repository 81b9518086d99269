internal import Synchronization

/// One run of a program, shared by its task and the thread that watches it.
final class ChildProcess: Sendable {
  let configuration: ProcessConfiguration
  let mailbox = ProcessMailbox()
  let reaper = ProcessReaper()
  /// The standard input, if it is a stream.
  let input: InputBuffer?
  private let watcher: ProcessWatcher
  private let cancelled = Atomic<Bool>(false)

  /// - Throws: ``ProcessLaunchError`` if no watcher can be created.
  init(_ configuration: ProcessConfiguration) throws(ProcessLaunchError) {
    self.configuration = configuration
    if case .stream = configuration.input.kind { input = InputBuffer() } else { input = nil }
    do { watcher = try ProcessWatcher.next() } catch {
      throw ProcessLaunchError(configuration, .system(error))
    }
  }

  func begin() { watcher.post(.begin(self)) }

  /// Ends the process group, by SIGTERM and then by SIGKILL.
  func cancel() {
    cancelled.store(true, ordering: .releasing)
    watcher.post(.cancel(self))
  }

  /// Adds bytes to the standard input, and waits while there is no room for others.
  ///
  /// - Returns: Whether the program may read more.
  func write(_ bytes: some Sequence<UInt8>) async -> Bool {
    await input?.append(bytes) { watcher.post(.write(self)) } ?? false
  }

  /// Ends the standard input.
  func finishInput() { input?.finish { watcher.post(.write(self)) } }

  /// Whether the program must not be started any more.
  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Waits for an event.
  func next() async -> ProcessUpdate {
    await mailbox.next { watcher.post(.read($0, of: self)) }
  }
}
