internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPTransfer {
  typealias Waiter = CheckedContinuation<HTTPTransferEnd, any Error>

  /// Tracks the state of a transfer, and its waiter.
  struct StateMachine: Sendable {
    private enum State: Sendable {
      case new
      case running(URLSessionTask, Waiter)
      case ended
    }

    /// The response, by what happens to its body.
    private enum Reply: Sendable {
      case none
      /// The body is ignored, because the request is redirected.
      case redirect(HTTPResponseHead)
      case answer(HTTPResponseHead)
      /// The received part of the body of an error.
      case failure(HTTPResponseHead, Data)
    }

    /// Why the task is cancelled.
    private enum Stop: Sendable {
      case cancelled
      case error(any Error)
      /// Enough of an error is known.
      case statusKnown
    }

    enum ResponseAction: Sendable {
      case none
      case begin(HTTPResponseHead)
    }

    enum BytesAction: Sendable {
      case none
      case append
      case cancel(URLSessionTask)
    }

    private var state = State.new
    private var reply = Reply.none
    private var stop: Stop?
    /// Whether the task waits for the decision on a redirect. It must not be cancelled meanwhile,
    /// and then ends by itself at once.
    private var isRedirecting = false
    private let followsRedirects: Bool
    private let errorBodyLimit: Int

    init(followsRedirects: Bool, errorBodyLimit: Int) {
      self.followsRedirects = followsRedirects
      self.errorBodyLimit = errorBodyLimit
    }

    /// - Returns: Whether to start the task; false if it was cancelled before.
    mutating func begun(_ task: URLSessionTask, _ waiter: Waiter) -> Bool {
      switch state {
      case .new where stop == nil:
        state = .running(task, waiter)
        return true
      case .new:
        state = .ended
        return false
      case .running, .ended: preconditionFailure("begun(_:_:) was called in state \(state)")
      }
    }

    /// - Returns: The task, if it must be cancelled.
    mutating func cancelled() -> URLSessionTask? { stopped(.cancelled) }

    /// The receiver of the body threw an error.
    ///
    /// - Returns: The task, if it must be cancelled.
    mutating func failed(by error: any Error) -> URLSessionTask? { stopped(.error(error)) }

    /// The server requests authentication.
    ///
    /// - Returns: The task, if it must be cancelled.
    mutating func challenged() -> URLSessionTask? { stopped(.statusKnown) }

    private mutating func stopped(_ reason: Stop) -> URLSessionTask? {
      switch state {
      case .ended: return nil
      case .new:
        stop = stop ?? reason
        return nil
      case .running(let task, _):
        if stop != nil { return nil }
        stop = reason
        return isRedirecting ? nil : task
      }
    }

    /// The session asks whether to follow a redirect.
    ///
    /// - Returns: Whether to answer that it must not. A task that was cancelled must not get an
    ///   answer.
    mutating func redirectOffered() -> Bool {
      isRedirecting = stop == nil
      return isRedirecting
    }

    mutating func responded(_ head: HTTPResponseHead) -> ResponseAction {
      // An informational response before the final one (100 Continue, 103 Early Hints).
      if head.status < 200 { return .none }
      if followsRedirects, HTTPRoute.isRedirect(head.status) {
        reply = .redirect(head)
      } else if head.status >= 400 {
        reply = .failure(head, Data())
      } else {
        reply = .answer(head)
        return stop == nil ? .begin(head) : .none
      }
      return .none
    }

    mutating func received(_ bytes: Data) -> BytesAction {
      if stop != nil { return .none }
      switch reply {
      case .none, .redirect: return .none
      case .answer: return .append
      case .failure(let head, var body):
        body.append(bytes.prefix(errorBodyLimit - body.count))
        reply = .failure(head, body)
        guard body.count >= errorBodyLimit else { return .none }
        return stopped(.statusKnown).map { .cancel($0) } ?? .none
      }
    }

    /// - Parameter last: The last response of the task.
    /// - Returns: Whether there is a response that has not been delivered.
    func isUndelivered(_ last: HTTPResponseHead?) -> Bool {
      if case .none = reply, last != nil { return true }
      return false
    }

    /// - Returns: The waiter and the end; nil if the transfer has ended before.
    mutating func completed(
      _ error: (any Error)?, of request: HTTPRequestSummary
    ) -> (waiter: Waiter, end: Result<HTTPTransferEnd, any Error>)? {
      guard case .running(_, let waiter) = state else { return nil }
      state = .ended
      return (waiter, end(error, of: request))
    }

    private func end(
      _ error: (any Error)?, of request: HTTPRequestSummary
    ) -> Result<HTTPTransferEnd, any Error> {
      switch stop {
      case .cancelled: return .failure(CancellationError())
      case .error(let error): return .failure(error)
      case .statusKnown, nil: break
      }
      switch reply {
      // The status of these matters, even if the body is cut off.
      case .redirect(let head): return .success(.redirected(head))
      case .failure(let head, let body):
        return .failure(HTTPStatusError(request: request, head: head, body: body))
      case .answer(let head):
        guard let error else { return .success(.answered(head)) }
        return .failure(HTTPTransferError(error, of: request, hasResponse: true))
      case .none:
        let error = error ?? URLError(.cannotParseResponse)
        return .failure(HTTPTransferError(error, of: request, hasResponse: false))
      }
    }
  }
}

/// How a transfer ended.
enum HTTPTransferEnd: Sendable {
  case answered(HTTPResponseHead)
  /// The server redirects the request.
  case redirected(HTTPResponseHead)
}
