import CompositeOperations
import CompositeOperationsTestKit
import Synchronization

/// Records calls of user code, and whether the calling thread holds a lock of the package.
///
/// Debug builds count the locks that a thread holds. In every build, the user code can also call
/// the library, which traps or deadlocks if the feature holds its lock.
final class UserCodeRecorder: Sendable {
  private struct Record: Sendable {
    var calls: [String: Int] = [:]
    var underLock: Set<String> = []
  }

  private let record = Lock(Record())
  private let callback = Lock<(@Sendable () -> Void)?>(nil)
  private let isCallingBack = Atomic(false)

  /// The user code that ran under a lock.
  var underLock: [String] { record.withLock { $0.underLock.sorted() } }

  /// Returns the number of calls of some user code.
  func count(of what: String) -> Int { record.withLock { $0.calls[what, default: 0] } }

  /// Sets a closure that all user code calls.
  func callBack(_ body: @escaping @Sendable () -> Void) { setCallback(body) }
  func stopCallingBack() { setCallback(nil) }

  private func setCallback(_ body: (@Sendable () -> Void)?) {
    // The previous closure is freed outside the lock, because it can contain values that record.
    _ = callback.withLock { callback in
      defer { callback = body }
      return callback
    }
  }

  /// Records a call of user code.
  func runs(_ what: String) {
    // Read before taking the lock of this class, which is counted, too.
    let isUnderLock = HeldLocks.count > 0
    record.withLock { record in
      record.calls[what, default: 0] += 1
      if isUnderLock { record.underLock.insert(what) }
    }
    // The callback may run user code again.
    if isCallingBack.exchange(true, ordering: .acquiring) { return }
    callback.withLock(\.self)?()
    isCallingBack.store(false, ordering: .releasing)
  }
}

/// A value, an error or a key that records when it is described or deallocated.
final class UserValue: Error, Hashable, CustomStringConvertible, Sendable {
  private let code: UserCodeRecorder

  init(_ code: UserCodeRecorder) { self.code = code }
  deinit { code.runs("deinit") }

  var description: String {
    code.runs("description")
    return "loud"
  }

  static func == (left: UserValue, right: UserValue) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Keeps the value in the closure that calls this.
  func isKept() {}
}

/// Describes every event and records that.
final class UserObserver: OperationObserver {
  private let code: UserCodeRecorder

  init(_ code: UserCodeRecorder) { self.code = code }

  func observe(_ event: OperationEvent) {
    code.runs("observe")
    _ = "\(event)"
  }
}

/// A clock whose time passes with each reading, and which keeps a value and records its readings.
final class UserClock: Clock {
  private let value: UserValue
  private let code: UserCodeRecorder
  private let seconds = Atomic(0)

  init(_ code: UserCodeRecorder) {
    value = UserValue(code)
    self.code = code
  }

  var now: ManualClock.Instant {
    code.runs("clock")
    let second = seconds.wrappingAdd(1, ordering: .relaxed).newValue
    return ManualClock.Instant(offset: .seconds(second))
  }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {}
}

/// An operation that keeps a value and records when its name is read.
struct UserOperation<Base: ComposableOperation>: ComposableOperation {
  let base: Base
  let value: UserValue
  let code: UserCodeRecorder

  init(_ base: Base, _ code: UserCodeRecorder) {
    self.base = base
    value = UserValue(code)
    self.code = code
  }

  var operationName: String {
    code.runs("name")
    return "loud operation"
  }

  func perform(in context: OperationContext) async throws -> Base.Success {
    try await base.perform(in: context)
  }
}
