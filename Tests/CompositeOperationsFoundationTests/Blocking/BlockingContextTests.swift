import CompositeOperations
import CompositeOperationsFoundation
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BlockingContextTests {
  private struct Failure: Error {}

  private final class Trace: Sendable {
    private let lines = Lock<[String]>([])

    var all: [String] { lines.withLock(\.self) }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test(.timeLimit(.minutes(10))) func `a cancellation handler unblocks a system call`()
    async throws
  {
    var sockets: [Int32] = [-1, -1]
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    try #require(unsafe socketpair(AF_UNIX, kind, 0, &sockets) == 0)
    defer { for socket in sockets { close(socket) } }
    let socket = sockets[0]
    let hasBegun = DispatchSemaphore(value: 0)
    let run = BlockingOperation { context in
      context.withCancellationHandler {
        hasBegun.signal()
        var byte: UInt8 = 0
        return unsafe recv(socket, &byte, 1, 0)
      } onCancel: {
        shutdown(socket, Int32(SHUT_RDWR))
      }
    }.start()
    await onNewThread { hasBegun.wait() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(await run.lateOutcome?.result == 0)
  }

  @Test(.timeLimit(.minutes(10))) func `no handler is called after its body has returned`() async {
    let trace = Trace()
    let (hasLeft, isCancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let run = BlockingOperation { context in
      try? context.withCancellationHandler {
        throw Failure()
      } onCancel: {
        trace.add("failed")
      }
      context.withCancellationHandler {
        context.withCancellationHandler {
          trace.add("inside")
        } onCancel: {
          trace.add("inner")
        }
        hasLeft.signal()
        isCancelled.wait()
      } onCancel: {
        trace.add("outer")
      }
    }.start()
    await onNewThread { hasLeft.wait() }
    run.cancel()
    isCancelled.signal()
    #expect(await run.outcome.isCancelled)
    #expect(trace.all == ["inside", "outer"])
  }

  @Test(.timeLimit(.minutes(10))) func `a function waits until a running handler has returned`()
    async
  {
    let trace = Trace()
    let (hasBegun, handles) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (isHandling, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let run = BlockingOperation { context in
      context.withCancellationHandler {
        hasBegun.signal()
        handles.wait()
      } onCancel: {
        handles.signal()
        isHandling.signal()
        mayReturn.wait()
        trace.add("handled")
      }
      trace.add("left")
    }.start()
    await onNewThread { hasBegun.wait() }
    async let cancelled: Void = onNewThread { run.cancel() }
    await onNewThread { isHandling.wait() }
    // Gives a function that does not wait the time to return.
    for _ in 0..<1_000 where trace.all.isEmpty { await onNewThread {} }
    mayReturn.signal()
    await cancelled
    #expect(await run.outcome.isCancelled)
    #expect(trace.all == ["handled", "left"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `handlers run from the inside out, or before their body after a cancellation`()
    async
  {
    let trace = Trace()
    let (hasBegun, isCancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let run = BlockingOperation { context in
      context.withCancellationHandler {
        context.withCancellationHandler {
          hasBegun.signal()
          isCancelled.wait()
        } onCancel: {
          trace.add("inner")
        }
      } onCancel: {
        trace.add("outer")
      }
      context.withCancellationHandler {
        trace.add("body")
      } onCancel: {
        trace.add("late")
      }
    }.start()
    await onNewThread { hasBegun.wait() }
    run.cancel()
    isCancelled.signal()
    #expect(await run.outcome.isCancelled)
    #expect(trace.all == ["inner", "outer", "late", "body"])
  }

  @Test func `a handler that captures its context does not leak`() async {
    final class Token: Sendable {}
    for isCancelled in [false, true] {
      let hasBegun = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      weak var left: Token?
      do {
        let token = Token()
        left = token
        let run = BlockingOperation { [token] context in
          context.withCancellationHandler {
            hasBegun.signal()
            mayEnd.wait()
          } onCancel: { [token] in
            if !context.isCancelled { withExtendedLifetime(token) {} }
          }
        }.start()
        await onNewThread { hasBegun.wait() }
        if isCancelled { run.cancel() }
        mayEnd.signal()
        #expect(await run.outcome.isCancelled == isCancelled)
      }
      // The thread may not have returned from the function yet.
      while left != nil { await Task.yield() }
    }
  }
}
