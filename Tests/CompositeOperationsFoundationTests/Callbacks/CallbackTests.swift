import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import Testing

@Suite struct CallbackTests {
  private struct Failure: Error {}

  private let center = NotificationCenter()
  private let name = Notification.Name("changed")

  /// Runs an operation, and posts until it has ended.
  private func outcome<Success>(
    of operation: NotificationOperation<Success>, posting notes: [[String: Int]]
  ) async -> Outcome<Success> {
    let run = operation.start()
    let hasEnded = Lock(false)
    let posting = Task {
      while hasEnded.withLock(\.self) == false {
        for note in notes { center.post(name: name, object: nil, userInfo: note) }
        await Task.yield()
      }
    }
    let outcome = await run.outcome
    hasEnded.withLock { $0 = true }
    await posting.value
    return outcome
  }

  @Test func `it ends with the first notification that says something`() async {
    let change = NotificationOperation(name, in: center) { note in
      (note.userInfo?["number"] as? Int).flatMap { $0 > 2 ? $0 : nil }
    }
    let notes = [["other": 9], ["number": 1], ["number": 3], ["number": 4]]
    #expect([3, 4].contains(await outcome(of: change, posting: notes).result))
    #expect(
      await outcome(of: NotificationOperation(name, in: center), posting: [[:]]).result != nil)
  }

  @Test func `it listens no longer when it was cancelled`() async {
    let seen = Lock(0)
    let run = NotificationOperation<Int>(name, in: center) { _ in
      seen.withLock { $0 += 1 }
      return nil
    }.start()
    while seen.withLock(\.self) == 0 {
      center.post(name: name, object: nil)
      await Task.yield()
    }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let count = seen.withLock(\.self)
    center.post(name: name, object: nil)
    #expect(seen.withLock(\.self) == count)
  }

  @Test func `a completion handler that takes a result ends an operation`() async {
    let works = SimpleOperation<Int>(callback: { finish in
      DispatchQueue.global().async { finish(Result<Int, Failure>.success(1)) }
    })
    #expect(await works.run().result == 1)
    let fails = SimpleOperation<Int>(callback: { $0(Result<Int, any Error>.failure(Failure())) })
    #expect(await fails.run().error is Failure)
    let stops = SimpleOperation<Int>(callback: {
      $0(Result<Int, any Error>.failure(CancellationError()))
    })
    #expect(await stops.run().isCancelled)
  }

  @Test func `an error of Foundation that means a cancellation is one`() async {
    let stopped = SimpleOperation<Int> { throw CocoaError(.userCancelled) }
    #expect(await stopped.run().isCancelled)
    let failed = SimpleOperation<Int> { throw CocoaError(.fileNoSuchFile) }
    #expect(await failed.run().error is CocoaError)
  }
}
