internal import CompositeOperations
internal import CompositeOperationsFoundation
internal import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The transport on Apple platforms, based on `URLSession`. On Linux only tests use it, because
/// Foundation ends the process there after some invalid responses.
package final class URLSessionTransport: HTTPTransport {
  package let decompressesBodies = true
  private let session: URLSession
  private let delegate = Delegate()
  private let usesUnixSocket: Bool
  /// The bodies that are not complete, by their exchanges.
  private let spools = Lock<[ObjectIdentifier: SpooledBody]>([:])

  package init(_ configuration: HTTPConfiguration) {
    let settings = URLSessionConfiguration.ephemeral
    settings.urlCache = nil
    if !configuration.keepsCookies {
      settings.httpCookieStorage = nil
      settings.httpShouldSetCookies = false
    }
    usesUnixSocket = configuration.unixSocket != nil
    settings.httpMaximumConnectionsPerHost = configuration.connectionsPerHost
    switch configuration.proxy {
    case .system: break
    case .none: settings.connectionProxyDictionary = [:]
    case .url(let url): settings.connectionProxyDictionary = Self.proxySettings(url)
    }
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: settings, delegate: delegate, delegateQueue: queue)
  }

  private static func proxySettings(_ url: URL) -> [AnyHashable: Any] {
    let kinds = url.scheme?.hasPrefix("socks") == true ? ["SOCKS"] : ["HTTP", "HTTPS"]
    return kinds.reduce(into: [:]) { settings, kind in
      settings["\(kind)Enable"] = 1
      settings["\(kind)Proxy"] = url.host
      settings["\(kind)Port"] = url.port
    }
  }

  // Otherwise the session would never be freed, and neither would its delegate.
  deinit { session.finishTasksAndInvalidate() }

  package func start(_ exchange: HTTPExchange) {
    if usesUnixSocket {
      let problem = "a unixSocket is supported only on Linux, with libcurl"
      exchange.end(HTTPTransportError(configuration: problem))
      return exchange.notify()
    }
    switch exchange.request.body {
    case .none: resume(session.dataTask(with: request(of: exchange)), exchange)
    case .bytes(let bytes):
      exchange.sent(0)
      resume(session.uploadTask(with: request(of: exchange), from: Data(bytes)), exchange)
    case .stream(_, let file?):
      exchange.sent(0)
      resume(session.uploadTask(with: request(of: exchange), fromFile: file), exchange)
    case .stream(_, nil): spools.withLock { $0[ObjectIdentifier(exchange)] = SpooledBody() }
    }
  }

  private func resume(
    _ task: URLSessionTask, _ exchange: HTTPExchange, _ body: SpooledBody? = nil
  ) {
    delegate.add(exchange, task, body)
    if exchange.isCancelled { task.cancel() } else { task.resume() }
  }

  package func update(_ exchange: HTTPExchange) {
    guard let body = spools.withLock({ $0[ObjectIdentifier(exchange)] }) else {
      // On the queue of the callbacks, so that a task is not suspended after it is resumed.
      return session.delegateQueue.addOperation { [delegate] in delegate.update(exchange) }
    }
    HTTPThreads.files.add {
      let end = body.write(from: exchange)
      if end == .incomplete { return }
      self.spools.withLock { $0[ObjectIdentifier(exchange)] = nil }
      if end == .complete {
        let task = self.session.uploadTask(
          with: self.request(of: exchange), fromFile: body.file)
        self.resume(task, exchange, body)
      } else {
        exchange.end(HTTPTransportError(.other(code: 0), "the body cannot be written to a file"))
        exchange.notify()
      }
    }
  }

  private func request(of exchange: HTTPExchange) -> URLRequest {
    var request = URLRequest(url: exchange.request.url)
    request.httpMethod = exchange.request.method
    request.timeoutInterval = Double(exchange.request.timeout.inNanoseconds) / 1e9
    // The session itself accepts the codings that it decompresses.
    for field in exchange.request.headers.fields
    where !field.isNamed("Accept-Encoding") || field.value == "identity" {
      request.addValue(field.value, forHTTPHeaderField: field.name)
    }
    return request
  }
}
