import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

/// Checks that no user code runs under a lock of this module, as `LockTests` of the core does.
@Suite(.timeLimit(.minutes(10))) struct LockTests {
  /// Records calls of user code, and whether the calling thread holds a lock of the package.
  private final class UserCodeRecorder: Sendable {
    private let record = Lock((calls: 0, underLock: [String]()))

    var calls: Int { record.withLock { $0.calls } }
    var underLock: [String] { record.withLock { $0.underLock } }

    func runs(_ what: String) {
      // Read first, because the lock of this class is counted, too.
      let isUnderLock = HeldLocks.count > 0
      record.withLock { record in
        record.calls += 1
        if isUnderLock { record.underLock.append(what) }
      }
    }
  }

  /// Records when it is freed, and calls its owner back.
  private final class UserObject: NSObject, Error, Sendable {
    private let code: UserCodeRecorder
    private let callBack: @Sendable () -> Void

    init(_ code: UserCodeRecorder, _ callBack: @escaping @Sendable () -> Void = {}) {
      self.code = code
      self.callBack = callBack
    }

    deinit {
      code.runs("deinit")
      callBack()
    }
  }

  @Test func `C3: a queue operation frees the operation it was made from outside its lock`() async {
    let code = UserCodeRecorder()
    let queue = OperationQueue()
    for cancels in [false, true] {
      let operations = Lock<[QueueOperation<Int>]>([])
      do {
        let object = UserObject(code) { _ = operations.withLock { $0.first }?.isExecuting }
        let operation = QueueOperation(SimpleOperation { withExtendedLifetime(object) { 1 } })
        operations.withLock { $0 = [operation] }
        if cancels { operation.cancel() }
        queue.addOperation(operation)
      }
      await withCheckedContinuation { queue.addBarrierBlock($0.resume) }
      // Released outside the lock of the test.
      let operation = operations.withLock { exchange(&$0, with: []) }.first
      #expect(operation?.isFinished == true)
    }
    while code.calls < 2 { await Task.yield() }
    #expect(code.underLock == [])
  }

  @Test func `C3: unread notifications are freed outside the lock`() async {
    let name = Notification.Name("LockTests")
    for isFound in [true, false] {
      let code = UserCodeRecorder()
      let center = NotificationCenter()
      let post: @Sendable (Int) -> Void = { number in
        let object = UserObject(code)
        center.post(name: name, object: object, userInfo: ["number": number, "object": object])
      }
      let read: @Sendable (Notification) -> Int? = { note in
        code.runs("read")
        guard note.userInfo?["number"] as? Int == 0 else { return 2 }
        // Posts more notifications while this one is read, and may cancel the run.
        for number in 1...3 { post(number) }
        if !isFound { cancelCurrentTask() }
        return isFound ? 1 : nil
      }
      // In a task of its own, because the reader cancels the current task.
      _ = await NotificationOperation<Int>(name, in: center, after: { post(0) }, read).start()
        .outcome
      #expect(code.calls == 5)
      #expect(code.underLock == [])
    }
  }

  @Test func `C3: blocking functions are freed outside the lock`() async {
    let code = UserCodeRecorder()
    let threads = BlockingThreads(width: 1, name: "lock test")
    let gate = DispatchSemaphore(value: 0)
    let first = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount == 0 { await Task.yield() }
    let runs = (0..<3).map { _ in
      let value = UserObject(code) { _ = threads.waitingCount }
      return BlockingOperation(on: .threads(threads)) { withExtendedLifetime(value) {} }.start()
    }
    while threads.waitingCount < 3 { await Task.yield() }
    runs[0].cancel()
    gate.signal()
    _ = await first.outcome
    for run in runs { _ = await run.outcome }
    while code.calls < 3 { await Task.yield() }
    #expect(code.underLock == [])
  }
}

/// Cancels the current task from within.
private func cancelCurrentTask() { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
