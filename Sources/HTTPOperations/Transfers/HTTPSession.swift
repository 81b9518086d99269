internal import CompositeOperations

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// A session that sends HTTP requests, based on `URLSession`.
///
/// ```swift
/// import HTTPOperations
/// import FoundationNetworking  // on Linux alone
///
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.timeoutIntervalForRequest = 20
/// let session = HTTPSession(configuration)
/// let data = HTTPDataOperation(url, session: session)
/// ```
///
/// Any number of operations may use a session at the same time. It ends when the last of them has
/// released it.
///
/// Of the `httpAdditionalHeaders`, `Authorization`, `Cookie` and `Proxy-Authorization` are added to
/// requests that do not have them. Like the same headers of a request, they are removed when it is
/// redirected to another server. On Linux the `urlCredentialStorage` is not used: a 401 is an
/// error, whatever the storage contains. Nor is the `urlCache`: every request goes to its server.
///
/// On Linux all sessions of a process share one serial queue. So each of these blocks all of them:
///
/// - A server that sends faster than this machine can read, without end. Not even its own request
///   can be cancelled meanwhile. Over a network this hardly happens.
/// - A download whose disk or pipe is so slow that 8 MiB of it wait to be written, until there is
///   room or it is cancelled.
/// - A progress observer that blocks.
public final class HTTPSession: Sendable {
  /// The default session. It stores nothing on disk.
  ///
  /// It makes as many connections to a host at the same time as the system does by default
  /// (`httpMaximumConnectionsPerHost`, which is 6). Further requests wait.
  public static let shared = HTTPSession()

  private let session: URLSession
  private let delegate = TransferDelegate()
  /// The additional headers with credentials.
  private let credentials: [String: String]

  /// Creates a session.
  ///
  /// - Parameter configuration: The configuration, which is copied.
  public convenience init(_ configuration: URLSessionConfiguration = .ephemeral) {
    let copy = configuration.copy() as? URLSessionConfiguration ?? configuration
    #if canImport(FoundationNetworking)
      // On Linux, a request that is cancelled while it waits for the cache crashes the program: two
      // calls begin and end it, and between them it may have begun, ended and been forgotten.
      copy.urlCache = nil
    #endif
    var credentials: [String: String] = [:]
    // Foundation would send them to every server that the request is redirected to.
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

  // Otherwise the session would never be freed, and neither would its delegate.
  deinit { session.finishTasksAndInvalidate() }

  /// A new session of the same configuration, for long transfers: requests that wait for a free
  /// connection to the same host would time out.
  func separate() -> HTTPSession { HTTPSession(session.configuration, credentials) }

  /// Sends a request and follows its redirects.
  ///
  /// - Parameters:
  ///   - sink: Receives the body of the response.
  ///   - sent: Receives the number of bytes that have been sent.
  /// - Returns: The head of the response, whose status is below 400.
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
      let task = await HTTPThreads.makeTask { self.task(for: request, body: body) }
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

#if canImport(FoundationNetworking)
  /// Runs the delegate calls of a session on Linux immediately, on the calling thread.
  ///
  /// With a queue that runs them later, the session receives whatever the network delivers, without
  /// limit if the disk is slower. Here the session waits for the delegate, so a slow disk slows the
  /// server down (back pressure).
  // Unchecked, as for all operation queues: it has no state of its own.
  final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
