import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct HTTPCancellationTests {
  @Test(arguments: [false, true])
  func `a cancellation closes the connection, before and during the response`(
    hasBegun: Bool
  ) async throws {
    let server = try LoopbackServer { _, connection in
      if hasBegun { connection.send(.init("begun", length: 1_000)) }
      connection.waitForClose()
    }
    let (reports, continuation) = AsyncStream<Void>.makeStream()
    // Without a short timeout: on a busy machine the cancellation may come late.
    let request = URLRequest(url: server.url(), timeoutInterval: 3_600)
    let run = HTTPDataOperation(request)
      .observed(by: BytesObserver { continuation.yield() }).start()
    await server.waitForRequests(1)
    if hasBegun { for await _ in reports { break } }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
  }

  @Test(.timeLimit(.minutes(10)), arguments: Transfer.allCases)
  func `an observer of progress can cancel the run`(transfer: Transfer) async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(readingBodies: false) { _, connection in
      if transfer != .upload { connection.send(.init("begun", length: 1_000)) }
      connection.waitForClose()
    }
    let canceller = Canceller()
    let operation = transfer.operation(on: server.url(), in: folder)
    let run = operation.observed(by: BytesObserver { canceller.cancel() }).start()
    canceller.give { run.cancel() }
    #expect(await run.outcome.isCancelled)
    await server.waitForCloses(1)
  }

  @Test func `a cancellation during redirects ends the run`() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(.init(302, headers: ["Location: /again"]))
    }
    for round in 0..<40 {
      let options = HTTPRequestOptions(redirects: .followed(atMost: .max))
      let run = HTTPDataOperation(server.url(), options: options).start()
      await server.waitForRequests(server.requests.count + round % 4)
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
  }

  // In a child process, because a failure would crash it.
  @Test func `requests that are cancelled at any time do not crash the process`() async {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer(.init("answer"))
      let url = server.url()
      for round in 0..<2_000 {
        // A new session for every request, so that its cache, if there were one, is empty.
        let session = HTTPSession()
        let run = HTTPDataOperation(url, session: session).start()
        for _ in 0..<round % 20 { await Task.yield() }
        run.cancel()
        let outcome = await run.outcome
        #expect(outcome.isCancelled || outcome.result != nil)
      }
    }
  }

  @Test func `a run that is cancelled before it begins sends no request`() async throws {
    let server = try LoopbackServer(.init())
    let url = server.url()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await HTTPDataOperation(url).run()
    }
    #expect(await task.value.isCancelled)
    #expect(server.requests.isEmpty)
  }

  @Test func `O4: URLError.cancelled ends a run as cancelled, and no other code does`() async {
    #expect(await SimpleOperation { throw URLError(.cancelled) }.run().isCancelled)
    #expect(await SimpleOperation { throw URLError(.timedOut) }.run().error is URLError)
  }
}

/// Calls a cancellation function that is set later, on the thread that calls `cancel()`.
private final class Canceller: Sendable {
  private let given = DispatchSemaphore(value: 0)
  private let cancelling = Lock<(@Sendable () -> Void)?>(nil)

  func give(_ cancelling: @escaping @Sendable () -> Void) {
    self.cancelling.withLock { $0 = cancelling }
    given.signal()
  }

  /// Blocks until the function is set. Must not be called on a thread of Swift's tasks.
  func cancel() {
    given.wait()
    given.signal()
    // Calls the function once and releases it, which breaks the cycle of run, observer and this.
    cancelling.withLock { $0.take() }?()
  }
}
