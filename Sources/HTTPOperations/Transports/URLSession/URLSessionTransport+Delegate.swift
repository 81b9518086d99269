internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension URLSessionTransport {
  /// Passes the callbacks of a session to the exchanges of its tasks.
  final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Entry: Sendable {
      let exchange: HTTPExchange
      let task: URLSessionTask
      /// Removes its file.
      let body: SpooledBody?
      var hasHead = false
      /// Received bytes that the exchange has no room for.
      var pending = Data()
      var isSuspended = false
      var end: Result<Void, HTTPTransportError>?
    }

    private let entries = Lock<[Int: Entry]>([:])

    func add(_ exchange: HTTPExchange, _ task: URLSessionTask, _ body: SpooledBody? = nil) {
      let entry = Entry(exchange: exchange, task: task, body: body)
      entries.withLock { $0[task.taskIdentifier] = entry }
    }

    func update(_ exchange: HTTPExchange) {
      let entry = entries.withLock { $0.values.first { $0.exchange === exchange } }
      guard let entry else { return }
      if exchange.isCancelled { entry.task.cancel() }
      deliver(entry.task) { _ in }
    }

    /// Changes an entry, and delivers what there is room for. On the queue of the session.
    private func deliver(_ task: URLSessionTask, _ change: (inout Entry) -> Void) {
      var wasSuspended = false
      let entry = entries.withLock { entries -> Entry? in
        guard var entry = entries[task.taskIdentifier] else { return nil }
        change(&entry)
        // The bytes of a cancelled exchange are not taken.
        if entry.exchange.isCancelled { entry.pending = Data() }
        if !entry.pending.isEmpty,
          unsafe entry.pending.withUnsafeBytes({ unsafe entry.exchange.receive($0) })
        {
          entry.pending = Data()
        }
        wasSuspended = entry.isSuspended
        entry.isSuspended = !entry.pending.isEmpty
        let hasEnded = entry.end != nil && entry.pending.isEmpty
        entries[task.taskIdentifier] = hasEnded ? nil : entry
        return entry
      }
      guard let entry else { return }
      if let end = entry.end, entry.pending.isEmpty { entry.exchange.end(end.failure) }
      entry.exchange.notify()
      // On Linux, a task that was suspended sometimes does not continue.
      #if canImport(Darwin)
        if entry.isSuspended == wasSuspended { return }
        if entry.isSuspended { task.suspend() } else { task.resume() }
      #endif
    }

    private func receive(_ response: URLResponse?, _ task: URLSessionTask) {
      guard let response = response as? HTTPURLResponse, response.statusCode >= 200 else { return }
      deliver(task) { entry in
        if exchange(&entry.hasHead, with: true) { return }
        entry.exchange.receive(HTTPResponseHead(response, to: entry.exchange.request.url))
      }
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      receive(response, dataTask)
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      deliver(dataTask) { $0.pending.append(data) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
      totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
      deliver(task) { $0.exchange.sent(Int(bytesSent)) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      // On Linux, the response to a request that is redirected may not have been delivered.
      receive(task.response, task)
      deliver(task) { $0.end = error.map { .failure(HTTPTransportError($0)) } ?? .success(()) }
    }
  }
}

extension HTTPResponseHead {
  fileprivate init(_ response: HTTPURLResponse, to url: URL) {
    let fields = response.allHeaderFields.compactMap { name, value in
      (name as? String).map { HTTPHeaders.Field(name: $0, value: "\(value)") }
    }
    self.init(
      url: response.url ?? url, status: response.statusCode,
      headers: HTTPHeaders(fields.sorted { $0.name < $1.name }))
  }
}

extension Result where Success == Void {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension HTTPTransportError {
  fileprivate init(_ error: any Error) {
    // Only the message of the error is kept, because the error has the whole URL with its secrets.
    guard let error = error as? URLError else {
      self.init(.other(code: (error as NSError).code), error.localizedDescription)
      return
    }
    let reason: HTTPTransferError.Reason =
      switch error.code {
      case .cannotFindHost, .dnsLookupFailed: .hostNotFound
      case .cannotConnectToHost: .cannotConnect
      case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
        .offline
      case .timedOut: .timedOut
      case .networkConnectionLost: .connectionLost
      case .serverCertificateUntrusted, .serverCertificateHasBadDate,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
        .certificateRefused
      case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired:
        .notSecure
      case .cannotParseResponse, .badServerResponse: .badAnswer
      case .cannotDecodeContentData, .cannotDecodeRawData: .undecodableBody
      case .badURL: .badRequest("the URL is invalid")
      case .unsupportedURL: .badRequest("only http and https URLs can be requested")
      #if canImport(FoundationNetworking)
        // The code of most errors of connections on Linux.
        case .unknown: .connectionLost
      #endif
      default: .other(code: error.code.rawValue)
      }
    let wasSent = ![.hostNotFound, .cannotConnect, .offline].contains(reason)
    self.init(reason, error.localizedDescription, wasSent: wasSent)
  }
}
