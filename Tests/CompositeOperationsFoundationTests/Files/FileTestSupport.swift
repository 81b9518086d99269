import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import Testing

/// Bytes with a period that does not divide the size of a block.
func bytes(_ count: Int) -> Data {
  let pattern = Data((0..<251).map { UInt8($0) })
  var data = Data(capacity: count + 251)
  while data.count < count { data.append(pattern) }
  return data.prefix(count)
}

func fileError(_ outcome: Outcome<some Sendable>) -> FileOperationError? {
  outcome.error as? FileOperationError
}

/// What the system says of a file, or of a symbolic link itself.
func status(of url: URL) -> stat {
  var status = stat()
  #expect(unsafe lstat(url.path, &status) == 0, "\(url.path)")
  return status
}

/// The rights of a file, with those to be run as its owner or its group.
func rights(of url: URL) -> mode_t { status(of: url).st_mode & 0o7777 }

/// When a file was changed, or a symbolic link itself.
func changeTime(of url: URL) -> timespec {
  #if canImport(Darwin)
    status(of: url).st_mtimespec
  #else
    status(of: url).st_mtim
  #endif
}

extension ComposableOperation {
  /// The same operation, during which something is done whenever it tells how far it is, on its own thread.
  func atProgress(
    _ body: @escaping @Sendable (_ completed: Int) -> Void
  ) -> some ComposableOperation<Success> {
    observed(by: ProgressHook(body: body))
  }

  /// The outcome of cancelling it in the very moment in which it tells for the first time how far it is.
  func outcomeOfCancelling() async -> Outcome<Success> {
    let handle = Lock<OperationRun<Success>?>(nil)
    let run = atProgress { _ in
      // On a thread that may wait.
      while true {
        if let run = handle.withLock(\.self) { return run.cancel() }
      }
    }.start()
    handle.withLock { $0 = run }
    // The run has the observer, and that has the run.
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

/// A place where whoever runs the tests may no more than anybody else.
struct Unprivileged {
  static let isPossible = geteuid() != 0 || setUser != nil
  /// Whom files belong to that are made there.
  static var user: uid_t { geteuid() == 0 ? 65_534 : geteuid() }

  let place: BlockingPlace

  init() async throws {
    // One that stays.
    let threads = BlockingThreads(width: 1, name: "nobody", endingAfter: .never)
    place = .threads(threads)
    guard geteuid() == 0 else { return }
    // On Linux each thread has a user of its own as far as files are concerned.
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

/// A folder on another disk than that of temporary files: in memory, where there is such a place.
let otherDisk: URL? = {
  let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
  var (here, there) = (stat(), stat())
  guard unsafe stat(FileManager.default.temporaryDirectory.path, &here) == 0,
    unsafe stat(memory.path, &there) == 0, unsafe access(memory.path, W_OK | X_OK) == 0
  else { return nil }
  return here.st_dev == there.st_dev ? nil : memory
}()
