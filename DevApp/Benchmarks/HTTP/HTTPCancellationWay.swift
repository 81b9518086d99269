#if os(Linux)
  import CompositeOperations
  import Foundation
  import FoundationNetworking
  import HTTPOperations
  import Synchronization

  /// A way to send HTTP requests that are cancelled.
  protocol HTTPCancellationWay: Sendable {
    /// Starts requests, all at once.
    func start(_ count: Int, to url: URL) -> RunningRequests

    /// Starts a request, and drops its body.
    ///
    /// - Parameters:
    ///   - muster: Counts one arrival when `size` bytes have been received.
    ///   - size: A number of bytes.
    func receive(_ url: URL, arrivingAt muster: Muster, after size: Int) -> RunningRequests
  }

  /// Requests that have been started.
  struct RunningRequests: Sendable {
    let cancel: @Sendable () -> Void
    /// Waits until the last one has ended.
    let end: @Sendable () async -> Void
  }

  extension HTTPOperationsWay: HTTPCancellationWay {
    func start(_ count: Int, to url: URL) -> RunningRequests {
      let operation = HTTPDataOperation(url, session: session)
      let runs = (0..<count).map { _ in operation.start() }
      return RunningRequests {
        for run in runs { run.cancel() }
      } end: {
        for run in runs { _ = await run.outcome }
      }
    }

    func receive(_ url: URL, arrivingAt muster: Muster, after size: Int) -> RunningRequests {
      let run = HTTPStreamOperation(url, session: session) { response in
        var missing = size
        for try await bytes in response where missing > 0 {
          missing -= bytes.count
          if missing <= 0 { muster.arrive() }
        }
      }.start()
      return RunningRequests {
        run.cancel()
      } end: {
        _ = await run.outcome
      }
    }
  }

  extension URLSessionWay: HTTPCancellationWay {
    func start(_ count: Int, to url: URL) -> RunningRequests {
      let end = Muster(expecting: count)
      let tasks = (0..<count).map { _ in
        session.dataTask(with: url) { _, _, _ in end.arrive() }
      }
      for task in tasks { task.resume() }
      return RunningRequests {
        for task in tasks { task.cancel() }
      } end: {
        await end.untilFull()
      }
    }

    func receive(_ url: URL, arrivingAt muster: Muster, after size: Int) -> RunningRequests {
      let end = Muster(expecting: 1)
      let delegate = URLSessionCount(size, reaching: muster, endingAt: end)
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      let task = session.dataTask(with: url)
      task.resume()
      session.finishTasksAndInvalidate()
      return RunningRequests {
        task.cancel()
      } end: {
        await end.untilFull()
      }
    }
  }

  /// A delegate that drops a body, and counts an arrival after some of its bytes.
  private final class URLSessionCount: NSObject, URLSessionDataDelegate, Sendable {
    private let missing: Mutex<Int>
    private let muster: Muster
    private let end: Muster

    init(_ size: Int, reaching muster: Muster, endingAt end: Muster) {
      missing = Mutex(size)
      self.muster = muster
      self.end = end
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      let hasArrived = missing.withLock { missing in
        defer { missing -= data.count }
        return missing > 0 && missing <= data.count
      }
      if hasArrived { muster.arrive() }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      end.arrive()
    }
  }
#endif
