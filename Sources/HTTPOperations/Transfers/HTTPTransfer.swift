internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request and its response, without redirects. It runs once.
final class HTTPTransfer: Sendable {
  private let machine: Lock<StateMachine>
  private let url: URL
  private let request: HTTPRequestSummary
  private let sink: any HTTPBodySink
  private let sent: TransferProgress?

  /// - Parameter sent: Reports the bytes that have been sent; nil to report none.
  init(
    of request: HTTPRequestSummary, to url: URL, options: HTTPRequestOptions,
    into sink: any HTTPBodySink, sent: TransferProgress?
  ) {
    let followsRedirects = if case .followed = options.redirects { true } else { false }
    machine = Lock(
      StateMachine(
        followsRedirects: followsRedirects, errorBodyLimit: options.errorBodyLimit))
    self.url = url
    self.request = request
    self.sink = sink
    self.sent = sent
  }

  /// Starts the task and waits for its end.
  ///
  /// A cancellation cancels the task. This returns when the session has released the task, because
  /// until then it may use the sink.
  func run(_ task: URLSessionTask) async throws -> HTTPTransferEnd {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        if machine.withLock({ $0.begun(task, waiter) }) {
          HTTPThreads.resume(task)
        } else {
          // The session keeps a task until it has ended.
          HTTPThreads.cancel(task)
          waiter.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      // The caller may be an observer, which is notified on the queue of the session.
      if let task = machine.withLock({ $0.cancelled() }) { HTTPThreads.cancel(task) }
    }
  }

  // MARK: Called by the delegate, on the queue of the session

  /// - Returns: Whether to tell the session not to follow the redirect.
  func redirect() -> Bool { machine.withLock { $0.redirectOffered() } }

  func begin(_ response: URLResponse) {
    guard let head = HTTPResponseHead(response, to: url) else { return }
    switch machine.withLock({ $0.responded(head) }) {
    case .none: break
    case .begin(let head): deliver { try sink.begin(head) }
    }
  }

  func append(_ bytes: Data) {
    switch machine.withLock({ $0.received(bytes) }) {
    case .none: break
    case .append: deliver { try sink.append(bytes) }
    case .cancel(let task): HTTPThreads.cancel(task)
    }
  }

  /// The server requests authentication. There are no other credentials, so its response is the
  /// end.
  func refuseChallenge() {
    if let task = machine.withLock({ $0.challenged() }) { HTTPThreads.cancel(task) }
  }

  func send(_ count: Int64) { sent?.report(Int(count)) }

  func end(_ task: URLSessionTask, _ error: (any Error)?) {
    // On Linux the session does not deliver a redirect without a location.
    if error == nil, let response = task.response,
      machine.withLock({ $0.isUndelivered(HTTPResponseHead(response, to: url)) })
    {
      begin(response)
    }
    let request = request
    guard let (waiter, end) = machine.withLock({ $0.completed(error, of: request) }) else { return }
    waiter.resume(with: end)
  }

  private func deliver(_ body: () throws -> Void) {
    do { try body() } catch {
      if let task = machine.withLock({ $0.failed(by: error) }) { HTTPThreads.cancel(task) }
    }
  }
}

/// A receiver for the body of a response.
///
/// It is called on the queue of the session. An error that it throws ends the transfer. If it
/// blocks, the server has to wait, and on Linux so do all other requests of the process. It does
/// not receive the bodies of redirects that are followed, and of statuses from 400 on.
protocol HTTPBodySink: Sendable {
  /// A response has begun. Its body follows.
  func begin(_ head: HTTPResponseHead) throws
  func append(_ bytes: Data) throws
}
