internal import CProcesses
internal import CompositeOperations
internal import Synchronization

/// A thread that starts processes, reads their output and detects their ends, for all runs.
///
/// There are at most 2, because more do not help. They are created on demand and never end.
final class ProcessWatcher: Sendable {
  typealias Failure = ProcessLaunchError.Failure

  enum Request: Sendable {
    case begin(ChildProcess)
    case cancel(ChildProcess)
    /// There is room again for its output.
    case read(OutputStream, of: ChildProcess)
    /// There is more input for it, or the input has ended.
    case write(ChildProcess)
  }

  let watch: Int32
  private let waker: Int32
  private let requests = Lock<[Request]>([])

  private static let count = 2
  private static let watchers = Lock<[ProcessWatcher]>([])
  private static let turn = Atomic<Int>(0)

  /// The next watcher, in turn.
  ///
  /// - Throws: The error of the system if there is no watcher and none can be created.
  static func next() throws(Failure) -> ProcessWatcher {
    let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    let result: Result<ProcessWatcher, Failure> = watchers.withLock { watchers in
      if watchers.count < count {
        do throws(Failure) {
          // Under the lock, so that no surplus thread is created. Only system code is called.
          watchers.append(try ProcessWatcher())
        } catch {
          if watchers.isEmpty { return .failure(error) }
        }
      }
      return .success(watchers[Int(UInt(bitPattern: turn) % UInt(watchers.count))])
    }
    return try result.get()
  }

  private init() throws(Failure) {
    var watch: Int32 = -1
    var waker: Int32 = -1
    let error = unsafe process_watch_open(&watch, &waker)
    if error != 0 { throw Failure(code: error) }
    self.watch = watch
    self.waker = waker
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    let failure = unsafe process_start_thread(
      { context in
        guard let context = unsafe context else { return }
        WatchLoop(unsafe Unmanaged<ProcessWatcher>.fromOpaque(context).takeRetainedValue()).run()
      }, context)
    if failure != 0 {
      unsafe Unmanaged<ProcessWatcher>.fromOpaque(context).release()
      process_watch_close(watch, waker)
      throw Failure(code: failure)
    }
  }

  func post(_ request: Request) {
    let isFirst = requests.withLock { requests in
      requests.append(request)
      return requests.count == 1
    }
    // The first request wakes the thread, which takes all requests at once.
    if isFirst { process_watch_wake(watch, waker) }
  }

  func takeRequests() -> [Request] {
    requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }

  /// Waits until a descriptor is ready, a request is posted or the time has passed.
  ///
  /// - Returns: The number of tokens.
  func wait(into tokens: inout [UInt64], milliseconds: Int32) -> Int {
    let capacity = Int32(tokens.count)
    let count = unsafe process_watch_wait(watch, waker, &tokens, capacity, milliseconds)
    if count < 0 {
      fatalError(
        "processes cannot be watched any more: \(Failure(code: -count)). No code may close a "
          + "descriptor that it does not own: look for close()")
    }
    return Int(count)
  }
}
