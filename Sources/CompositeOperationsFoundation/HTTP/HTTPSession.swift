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
/// Of the `httpAdditionalHeaders`, `Authorization`, `Cookie` and `Proxy-Authorization` go with a request where it does
/// not have them, and stay behind as those of the request do where it is sent on to another server. On Linux the
/// `urlCredentialStorage` is not asked: a 401 is an error, whatever is in it. Nor is the `urlCache`: every request goes
/// to its server.
///
/// On Linux all sessions of a process do their work on one queue, one thing after another. So what holds one of
/// them up holds up all of them:
///
/// - a server that sends faster than this machine can read, and without end: not even its request can be
///   cancelled meanwhile. Over a network that is hardly so.
/// - a download whose disk or pipe is so slow that 8 MiB of it wait to be written, until there is room or it is
///   cancelled.
/// - an observer of progress that blocks.
public final class HTTPSession: Sendable {
  /// Remembers nothing on disk, and makes as many connections to a host at the same time as the system does by
  /// default (`httpMaximumConnectionsPerHost`, which is 6); what is more waits.
  public static let shared = HTTPSession()

  private let session: URLSession
  private let delegate = TransferDelegate()
  /// The additional headers that say who asks.
  private let credentials: [String: String]

  /// - Parameter configuration: A copy of it is used.
  public convenience init(_ configuration: URLSessionConfiguration = .ephemeral) {
    let copy = configuration.copy() as? URLSessionConfiguration ?? configuration
    #if canImport(FoundationNetworking)
      // A request that waits for what a cache has of it, and is cancelled meanwhile, ends the program there: it is
      // told to begin and to end by two calls, and may have begun, ended and been forgotten between them.
      copy.urlCache = nil
    #endif
    var credentials: [String: String] = [:]
    // Foundation would send them to every server that redirects lead to.
    for (name, value) in copy.httpAdditionalHeaders ?? [:] {
      guard let name = name as? String, HTTPRoute.isCredential(name) else { continue }
      credentials[name] = "\(value)"
      copy.httpAdditionalHeaders?[name] = nil
    }
    self.init(copy, credentials)
  }

  private init(_ configuration: URLSessionConfiguration, _ credentials: [String: String]) {
    self.credentials = credentials
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

  /// Another one of the same configuration, for what takes long: requests that wait for a free connection to the
  /// same host run out of time.
  func separate() -> HTTPSession { HTTPSession(session.configuration, credentials) }

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
    var route = HTTPRoute(
      withCredentials(request), body: body, summary: summary, redirects: options.redirects)
    while true {
      let (request, body) = (route.request, route.body)
      let url = try summary.checkedURL(of: request)
      let transfer = HTTPTransfer(
        of: route.summary, to: url, options: options, into: sink, sent: sent)
      let task = await HTTPThreads.made { self.task(for: request, body: body) }
      delegate.add(transfer, for: task)
      defer { delegate.remove(task) }
      switch try await transfer.run(task) {
      case .answered(let head): return head
      case .redirected(let head): try route.follow(head)
      }
    }
  }

  private func withCredentials(_ request: URLRequest) -> URLRequest {
    var request = request
    for (name, value) in credentials where request.value(forHTTPHeaderField: name) == nil {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return request
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
        reason: .badRequest("only http and https URLs can be requested"),
        message: "")
    }
    if request.httpBodyStream != nil {
      throw HTTPTransferError(
        request: self,
        reason: .badRequest("an httpBodyStream can be read only once: send data or a file"),
        message: "")
    }
    return url
  }
}
