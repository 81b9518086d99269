import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import Testing

/// Bytes with a period of 251, which does not divide the size of a block.
func bytes(_ count: Int) -> Data {
  let pattern = Data((0..<251).map { UInt8($0) })
  var data = Data(capacity: count + 251)
  while data.count < count { data.append(pattern) }
  return data.prefix(count)
}

func fileError(_ outcome: Outcome<some Sendable>) -> FileOperationError? {
  outcome.error as? FileOperationError
}

extension ComposableOperation {
  /// Calls a function, on the thread of the operation, whenever the operation reports progress.
  func atProgress(
    _ body: @escaping @Sendable (_ completed: Int) -> Void
  ) -> some ComposableOperation<Success> {
    observed(by: ProgressHook(body: body))
  }

  /// Cancels the operation during its first progress report and returns the outcome.
  func outcomeOfCancelling() async -> Outcome<Success> {
    let handle = Lock<OperationRun<Success>?>(nil)
    let run = atProgress { _ in
      // This thread may block until the handle is set.
      while true {
        if let run = handle.withLock(\.self) { return run.cancel() }
      }
    }.start()
    handle.withLock { $0 = run }
    // Breaks the reference cycle between the run and its observer.
    defer { handle.withLock { $0 = nil } }
    return await run.outcome
  }
}

private struct ProgressHook: OperationObserver {
  let body: @Sendable (Int) -> Void

  func observe(_ event: OperationEvent) {
    if case .progressed(let completed, _, _) = event.kind { body(completed) }
  }
}

/// Runs file operations without the privileges of root, even if the tests run as root.
struct Unprivileged {
  static let isPossible = geteuid() != 0 || setUser != nil
  /// The owner of files that are created there.
  static var user: uid_t { geteuid() == 0 ? 65_534 : geteuid() }

  let place: BlockingPlace

  init() async throws {
    // The thread keeps its user, so it must not end.
    let threads = BlockingThreads(width: 1, name: "nobody", endingAfter: .never)
    place = .threads(threads)
    guard geteuid() == 0 else { return }
    // On Linux, every thread has its own user for file access.
    let user = Self.user
    try await BlockingOperation(on: place) {
      _ = Self.setUser?(user)
    }.run().get()
  }

  private static let setUser: (@convention(c) (uid_t) -> CInt)? = {
    guard let function = unsafe dlsym(dlopen(nil, RTLD_NOW), "setfsuid") else { return nil }
    return unsafe unsafeBitCast(function, to: (@convention(c) (uid_t) -> CInt).self)
  }()
}

/// A folder on another disk than the temporary folder: in memory, if the system has one.
let otherDisk: URL? = {
  let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
  var (here, there) = (stat(), stat())
  guard unsafe stat(FileManager.default.temporaryDirectory.path, &here) == 0,
    unsafe stat(memory.path, &there) == 0, unsafe access(memory.path, W_OK | X_OK) == 0
  else { return nil }
  return here.st_dev == there.st_dev ? nil : memory
}()
