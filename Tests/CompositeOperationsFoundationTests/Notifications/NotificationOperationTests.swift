import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct NotificationOperationTests {
  private struct Failure: Error {}

  private let center = NotificationCenter()
  private let name = Notification.Name("changed")

  private func post(_ number: Int) {
    center.post(name: name, object: nil, userInfo: ["number": number])
  }

  @Test func `the first notification with a value ends the run`() async {
    let change = NotificationOperation(name, in: center) {
      center.post(name: name, object: nil, userInfo: ["other": 9])
      for number in [1, 3, 4] { post(number) }
    } _: { note in
      (note.userInfo?["number"] as? Int).flatMap { $0 > 2 ? $0 : nil }
    }
    #expect(await change.run().result == 3)
    // Every run observes the center again.
    #expect(await change.run().result == 3)
    #expect(await NotificationOperation(name, in: center, after: { post(1) }).run().result != nil)
  }

  @Test func `an error of the posting closure ends the run, unless a notification has ended it`()
    async
  {
    let fails = NotificationOperation(name, in: center) { throw Failure() }
    #expect(await fails.run().error is Failure)
    let posts = NotificationOperation(name, in: center) {
      post(1)
      throw Failure()
    }
    #expect(await posts.run().result != nil)
    let stops = NotificationOperation(name, in: center) { throw CancellationError() }
    #expect(await stops.run().isCancelled)
  }

  @Test func `a cancelled run receives no further notifications`() async {
    let seen = Lock<[Int]>([])
    let listens = DispatchSemaphore(value: 0)
    let run = NotificationOperation<Int>(name, in: center) {
      post(1)
      listens.signal()
    } _: { note in
      seen.withLock { $0.append(note.userInfo?["number"] as? Int ?? 0) }
      return nil
    }.start()
    await onNewThread { listens.wait() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    post(2)
    #expect(seen.withLock(\.self) == [1])
  }

  /// A run that is reading the notification 1, which may or may not end it.
  private struct Reading: Sendable {
    let run: OperationRun<Int>
    let read: DispatchSemaphore
    let values: Values

    final class Values: Sendable {
      private let lists = Lock((seen: [Int](), discarded: [Int]()))

      var seen: [Int] { lists.withLock { $0.seen } }
      var discarded: [Int] { lists.withLock { $0.discarded } }
      func see(_ number: Int) { lists.withLock { $0.seen.append(number) } }
      func discard(_ number: Int) { lists.withLock { $0.discarded.append(number) } }
    }
  }

  /// - Parameter ignored: The number for which the closure returns nil.
  private func reading(ignoring ignored: Int? = nil) async -> Reading {
    let (listens, reads, mayRead) =
      (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let values = Reading.Values()
    let operation = NotificationOperation<Int>(name, in: center) {
      listens.signal()
    } _: { note in
      let number = note.userInfo?["number"] as? Int ?? 0
      values.see(number)
      if number == 1 {
        reads.signal()
        mayRead.wait()
      }
      return number == ignored ? nil : number
    }
    let run = operation.discarding { values.discard($0) }.start()
    await onNewThread { listens.wait() }
    Thread.detachNewThread { post(1) }
    await onNewThread { reads.wait() }
    return Reading(run: run, read: mayRead, values: values)
  }

  @Test func `only one of several concurrent notifications is read, and no value is lost`() async {
    let reading = await reading()
    await onNewThread { post(2) }
    reading.read.signal()
    #expect(await reading.run.outcome.result == 1)
    #expect(reading.values.seen == [1])
    #expect(reading.values.discarded == [])
  }

  @Test func `notifications that arrive while one without a value is read are read next`() async {
    let reading = await reading(ignoring: 1)
    await onNewThread {
      post(2)
      post(3)
    }
    reading.read.signal()
    #expect(await reading.run.outcome.result == 2)
    #expect(reading.values.seen == [1, 2])
  }

  @Test(arguments: [nil, 1])
  func `a run that is cancelled while a notification is read discards the value`(ignored: Int?)
    async
  {
    let reading = await reading(ignoring: ignored)
    reading.run.cancel()
    await onNewThread { post(2) }
    reading.read.signal()
    #expect(await reading.run.outcome.isCancelled)
    #expect(reading.values.seen == [1])
    #expect(reading.values.discarded == (ignored == nil ? [1] : []))
  }
}
