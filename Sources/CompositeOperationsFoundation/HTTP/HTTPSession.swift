internal import CompositeOperations

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// What makes requests over HTTP: a `URLSession` that the operations of this module understand.
///
/// ```swift
/// import CompositeOperationsFoundation
/// import FoundationNetworking  // on Linux alone
///
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.timeoutIntervalForRequest = 20
/// let session = HTTPSession(configuration)
/// let data = HTTPDataOperation(url, session: session)
/// ```
///
/// It may be used by any number of operations at the same time and ends when the last one has let it go.
///
/// On Linux, a server that sends faster than this machine can read, and without end, holds the session up: nothing
/// else of it goes on meanwhile, not even the cancellation of that request. Over a network that is hardly so.
/// Give a server on the same machine that may do so a session of its own.
public final class HTTPSession: Sendable {
  /// Remembers nothing on disk, and makes as many connections to a host at the same time as the system does by
  /// default (`httpMaximumConnectionsPerHost`, which is 6); what is more waits.
  public static let shared = HTTPSession()

  private let configuration: URLSessionConfiguration
  private let session: URLSession
  private let delegate = TransferDelegate()

  /// - Parameter configuration: A copy of it is used.
  public init(_ configuration: URLSessionConfiguration = .ephemeral) {
    self.configuration = configuration
    #if canImport(FoundationNetworking)
      let queue = ImmediateQueue()
    #else
      let queue = OperationQueue()
    #endif
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  // It would keep itself and its delegate for ever.
  deinit { session.finishTasksAndInvalidate() }

  /// Another one of the same configuration, for what holds its session up: writing to a disk.
  func separate() -> HTTPSession { HTTPSession(configuration) }

  /// Makes a request and follows it where the server sends it.
  ///
  /// - Parameters:
  ///   - sink: Takes the body of the answer.
  ///   - sent: Is told of the bytes that have been sent.
  /// - Returns: The answer, whose status is below 400.
  func perform(
    _ request: URLRequest, body: HTTPRequestBody, summary: HTTPRequestSummary,
    options: HTTPRequestOptions, into sink: any HTTPBodySink, sent: TransferProgress? = nil
  ) async throws -> HTTPResponseHead {
    var route = HTTPRoute(request, body: body, summary: summary, redirects: options.redirects)
    while true {
      let url = try summary.checkedURL(of: route.request)
      let transfer = HTTPTransfer(
        of: summary, to: url, options: options, into: sink, sent: sent)
      let task = task(for: route.request, body: route.body)
      delegate.add(transfer, for: task)
      defer { delegate.remove(task) }
      switch try await transfer.run(task) {
      case .answered(let head): return head
      case .redirected(let head): try route.follow(head)
      }
    }
  }

  private func task(for request: URLRequest, body: HTTPRequestBody) -> URLSessionTask {
    switch body {
    case .none: session.dataTask(with: request)
    case .data(let data): session.uploadTask(with: request, from: data)
    case .file(let url, _): session.uploadTask(with: request, fromFile: url)
    }
  }
}

extension HTTPRequestSummary {
  fileprivate func checkedURL(of request: URLRequest) throws -> URL {
    guard let url = request.url, ["http", "https"].contains(url.scheme?.lowercased()),
      url.host?.isEmpty == false
    else {
      throw HTTPTransferError(
        request: self,
        reason: .badRequest("only addresses of the schemes http and https can be asked"),
        message: "")
    }
    if request.httpBodyStream != nil {
      throw HTTPTransferError(
        request: self,
        reason: .badRequest("a httpBodyStream can be read once only: send data or a file"),
        message: "")
    }
    return url
  }
}
