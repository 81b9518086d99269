#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import Foundation
  internal import SystemSupport

  /// A request and its response as a transfer of libcurl. Only the thread of the transport uses it.
  @safe final class CurlTransfer {
    let exchange: HTTPExchange
    let handle: UnsafeMutableRawPointer
    private let news: CurlNews
    private var parser: HeadParser
    /// Why a callback ended the transfer.
    private var failure: HTTPTransportError?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let message: UnsafeMutablePointer<CChar>
    /// The time of the last activity in nanoseconds.
    private var lastActivity = MonotonicTime.now
    /// How many times the request was to be sent.
    private var startCount = 0
    /// How many bytes of the body have been received.
    private var receivedCount = 0
    /// The socket of a new connection.
    private var newSocket: curl_socket_t?
    /// Why the last socket could not be made.
    private var socketError: SystemError?
    /// The proxy that the request is sent through.
    private(set) var proxy: CurlProxy?
    /// Whether the idle connection could not be used.
    private var isUnusable = false
    private var isReceivingPaused = false
    private var isSendingPaused = false
    /// The maximum time without activity, in nanoseconds.
    private let timeout: Int64
    private let checksIdleConnections: Bool
    private let observesStream: Bool
    private var isHeadSent = false
    /// Whether the request was sent on a connection of HTTP/2.
    private(set) var isOnHTTP2 = false
    /// The stream of the request, if the connection may be of HTTP/2.
    private var stream: CurlStream?

    init(_ exchange: HTTPExchange, _ settings: CurlSettings, _ news: CurlNews) {
      guard let handle = unsafe curl_easy_init() else { fatalError("out of memory") }
      self.exchange = exchange
      self.news = news
      unsafe self.handle = handle
      unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
      unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      parser = HeadParser(limit: settings.headerLimit)
      let request = exchange.request
      // Sums of times do not overflow.
      timeout = min(request.timeout.inNanoseconds, .max / 4)
      checksIdleConnections = settings.checksIdleConnections(request)
      observesStream = settings.mayUseHTTP2(request)
      proxy = settings.proxy
      unsafe settings.apply(to: handle)
      setRequest(request, isOnly: settings.needsOwnConnection(request))
      set(CURLOPT_BUFFERSIZE, settings.bufferSize(for: request))
      setFunctions()
      if observesStream || settings.mayUseProxyOfSystem { observeMessages() }
    }

    deinit {
      unsafe curl_easy_cleanup(handle)
      unsafe curl_slist_free_all(headers)
      unsafe message.deallocate()
    }

    /// The transfer of a handle.
    static func of(_ handle: UnsafeMutableRawPointer) -> CurlTransfer? {
      unsafe of(context: composite_curl_private(handle))
    }

    private static func of(context: UnsafeMutableRawPointer?) -> CurlTransfer? {
      unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The time at which the transfer times out or must be continued, in nanoseconds.
    var deadline: Int64 {
      if isAnswered { return lastActivity + Self.answerInterval }
      return isReceivingPaused || isSendingPaused ? .max : lastActivity + timeout
    }

    /// Whether a response has begun while the request waits for the user's bytes. libcurl does not
    /// notice the end of such a response before the request continues.
    var isAnswered: Bool { isSendingPaused && parser.isComplete && !isReceivingPaused }

    /// How often an answered transfer is continued, in nanoseconds.
    static let answerInterval: Int64 = 1_000_000_000

    /// Continues what was paused.
    func resume() -> CURLcode {
      if !isReceivingPaused && !isSendingPaused { return CURLE_OK }
      (isReceivingPaused, isSendingPaused) = (false, false)
      lastActivity = MonotonicTime.now
      return unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    // MARK: Setting up

    /// - Parameter isOnly: Whether the request must be the only one of its connection.
    private func setRequest(_ request: HTTPTransportRequest, isOnly: Bool) {
      set(CURLOPT_URL, request.url.absoluteString)
      set(CURLOPT_CUSTOMREQUEST, request.method)
      switch request.body {
      case .none where request.method == "HEAD": set(CURLOPT_NOBODY, 1)
      // These have a length, even if it is 0 (RFC 9110, section 8.6).
      case .none where !["POST", "PUT", "PATCH"].contains(request.method): break
      default:
        set(CURLOPT_UPLOAD, 1)
        unsafe composite_curl_set_size(
          handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(request.body.byteCount ?? -1))
      }
      if request.needsNewConnection || isOnly { set(CURLOPT_FRESH_CONNECT, 1) }
      if isOnly { set(CURLOPT_FORBID_REUSE, 1) }
      for field in request.headers.fields {
        let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
        unsafe headers = curl_slist_append(headers, line)
      }
      // Without it, libcurl would wait for a response before it sends a large body.
      unsafe headers = curl_slist_append(headers, "Expect:")
      unsafe composite_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
    }

    private func setFunctions() {
      let context = unsafe Unmanaged.passUnretained(self).toOpaque()
      for option in [
        CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA,
        CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA,
      ] {
        unsafe composite_curl_set_pointer(handle, option, context)
      }
      unsafe composite_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, message)
      unsafe composite_curl_set_transfer(handle, CURLOPT_HEADERFUNCTION) {
        bytes, size, count, context in
        unsafe CurlTransfer.of(context: context)?
          .receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
      }
      unsafe composite_curl_set_transfer(handle, CURLOPT_WRITEFUNCTION) {
        bytes, size, count, context in
        unsafe CurlTransfer.of(context: context)?
          .receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
      }
      unsafe composite_curl_set_transfer(handle, CURLOPT_READFUNCTION) {
        bytes, size, count, context in
        unsafe CurlTransfer.of(context: context)?
          .takeBytes(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
          ?? Int(CURL_READFUNC_ABORT)
      }
      unsafe composite_curl_set_start(handle) { context, remote, local, remotePort, port in
        guard let transfer = unsafe CurlTransfer.of(context: context) else {
          return CURL_PREREQFUNC_ABORT
        }
        guard transfer.observesStream, let remote = unsafe remote, let local = unsafe local else {
          return transfer.start(from: port, nil)
        }
        return transfer.start(
          from: port,
          unsafe "\(String(cString: remote)) \(remotePort) \(String(cString: local)) \(port)")
      }
      unsafe composite_curl_set_connect(handle) { context, _, address in
        let socket = unsafe composite_curl_socket(address)
        let code = errno
        unsafe CurlTransfer.of(context: context)?.noteSocket(socket, SystemError(code: code))
        return socket
      }
    }

    private func observeMessages() {
      unsafe composite_curl_set_pointer(
        handle, CURLOPT_DEBUGDATA, Unmanaged.passUnretained(self).toOpaque())
      unsafe composite_curl_set_messages(handle) { _, kind, text, size, context in
        guard let transfer = unsafe CurlTransfer.of(context: context) else { return 0 }
        if kind == CURLINFO_HEADER_OUT, transfer.observesStream {
          unsafe transfer.sendHead(UnsafeRawBufferPointer(start: text, count: size))
        }
        if kind != CURLINFO_TEXT { return 0 }
        if let proxy = unsafe CurlProxy(message: UnsafeRawBufferPointer(start: text, count: size)) {
          transfer.proxy = proxy
        }
        var number: UInt32 = 0
        let news = unsafe composite_curl_read_message(text, size, &number)
        transfer.stream?.receive(news, number)
        return 0
      }
    }

    private func set(_ option: CURLoption, _ value: Int) {
      unsafe composite_curl_set_number(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: String) {
      unsafe composite_curl_set_string(handle, option, value)
    }

    // MARK: Callbacks of libcurl

    private func begin() { lastActivity = MonotonicTime.now }

    private func noteSocket(_ socket: curl_socket_t, _ error: SystemError) {
      newSocket = socket < 0 ? nil : socket
      socketError = socket < 0 ? error : nil
    }

    /// There is a connection, and the request is sent next.
    ///
    /// - Parameters:
    ///   - port: The client's port.
    ///   - addresses: Both ends of a connection that may be of HTTP/2.
    private func start(from port: Int32, _ addresses: String?) -> Int32 {
      begin()
      startCount += 1
      if startCount == 1, let addresses {
        stream = CurlStream(of: news.connections.use(addresses, isNew: newSocket != nil))
      }
      if startCount == 1, hasUnreadBytes(port) {
        isUnusable = true
        return CURL_PREREQFUNC_ABORT
      }
      // libcurl sends a request again if the server has closed an idle connection, without a
      // response. The server may have received it, so the session decides about that.
      return startCount == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Whether the request would be sent on an idle connection without TLS on which bytes have
    /// arrived. Nothing was requested there, so they would be taken for the response.
    private func hasUnreadBytes(_ port: Int32) -> Bool {
      if !checksIdleConnections { return false }
      if let newSocket {
        news.sockets[port] = newSocket
        return false
      }
      return news.sockets[port].map { composite_curl_has_unread_bytes($0, port) != 0 } ?? false
    }

    /// The head of the request is sent, in the form of HTTP/1: `GET / HTTP/2`.
    private func sendHead(_ head: UnsafeRawBufferPointer) {
      if isHeadSent { return }
      isHeadSent = true
      let line = unsafe head.prefix { $0 != 0x0D }
      isOnHTTP2 = unsafe line.suffix(7).elementsEqual(" HTTP/2".utf8)
      news.add(started: self)
    }

    private func receiveHeader(_ line: UnsafeRawBufferPointer) -> Int {
      begin()
      if let (status, headers) = unsafe parser.parse(line) {
        exchange.receive(
          HTTPResponseHead(url: exchange.request.url, status: status, headers: headers))
        news.add(exchange)
        if isSendingPaused { news.add(answered: self) }
      }
      failure = failure ?? parser.error
      return failure == nil ? line.count : -1
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
      begin()
      if unsafe exchange.receive(bytes) {
        receivedCount += bytes.count
        news.add(exchange, receiving: bytes.count)
        if isSendingPaused { news.add(answered: self) }
        return bytes.count
      }
      news.add(exchange)
      isReceivingPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }

    private func takeBytes(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      begin()
      news.add(exchange)
      if let count = unsafe exchange.takeBytes(into: buffer) { return count }
      isSendingPaused = true
      return Int(CURL_READFUNC_PAUSE)
    }

    // MARK: Ending

    /// Ends the exchange. The transfer must not be used afterwards.
    func end(_ result: CURLcode) {
      exchange.end(error(result))
      if let connection = stream?.connection { news.connections.leave(connection) }
      news.add(exchange)
    }

    private func error(_ result: CURLcode) -> HTTPTransportError? {
      if let failure { return failure }
      if isUnusable {
        return HTTPTransportError(
          .connectionLost, "the server has sent bytes that were not requested", wasSent: false,
          wasIdle: true)
      }
      if let stream, stream.isUnprocessed, !parser.hasBegun {
        return HTTPTransportError(
          .connectionLost, "the server refused the request without processing it", wasSent: false,
          wasRefused: true)
      }
      if result == CURLE_OK {
        // libcurl takes headers without their end for a response.
        return parser.isComplete
          ? nil : HTTPTransportError(.connectionLost, "it was closed within the headers")
      }
      let text = unsafe String(cString: message)
      // A server may answer before it has received the whole request, and then end its stream
      // (RFC 9113, section 8.1). libcurl 7.88 reports that as an error without a message.
      if stream != nil, text.isEmpty, isWhole { return nil }
      let wasIdle =
        startCount > 1 && !parser.isComplete || result == CURLE_SEND_FAIL_REWIND
      // The message has the URL of the proxy, with its password.
      if text.hasPrefix("Unsupported proxy") {
        return HTTPTransportError(
          .badRequest("the URL of the proxy is not valid"), wasSent: false)
      }
      return HTTPTransportError(
        wasIdle ? .connectionLost : HTTPTransferError.Reason(self, result, text),
        wasIdle
          ? "the server closed the kept connection before it responded" : self.text(result, text),
        wasSent: startCount > 0, wasIdle: wasIdle,
        proxy: isOfProxy(result) ? proxy?.address : nil)
    }

    /// Whether the proxy has failed, and not the server.
    private func isOfProxy(_ result: CURLcode) -> Bool {
      guard let proxy, !hasBegun else { return false }
      switch result {
      case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY: return true
      // The result does not say with which of both a handshake of TLS was made.
      case CURLE_OPERATION_TIMEDOUT, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING,
        CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION:
        return !proxy.isSOCKS && number(CURLINFO_HTTP_CONNECTCODE) / 100 != 2
      default: return false
      }
    }

    /// Whether a connection could not be made because the process, or the system, has too many open
    /// files. libcurl does not report that a lookup or a certificate needed another one.
    func lacksFiles(_ result: CURLcode) -> Bool {
      if hasBegun { return false }
      if let socketError { return socketError.isLackOfFiles }
      switch result {
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CERTPROBLEM, CURLE_PEER_FAILED_VERIFICATION:
        // The socket, or the two of a lookup, are closed again.
        let files = (0..<3).map { _ in eventfd(0, Int32(EFD_CLOEXEC)) }
        let error = SystemError.last
        for file in files where file >= 0 { close(file) }
        return files.contains { $0 < 0 } && error.isLackOfFiles
      default: return false
      }
    }

    /// Whether a response with a length has been received as a whole.
    private var isWhole: Bool {
      parser.length.map { $0 == receivedCount } == true
    }

    private func text(_ result: CURLcode, _ text: String) -> String {
      if result == CURLE_OUT_OF_MEMORY, !parser.isComplete {
        return "a line of its headers is larger than 100 KB"
      }
      return text.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : text
    }

    /// Whether the request was to be sent.
    var hasBegun: Bool { startCount > 0 }

    /// Whether the headers of the response have been received.
    var hasHead: Bool { parser.isComplete }

    func number(_ info: CURLINFO) -> Int { unsafe composite_curl_number(handle, info) }
  }
#endif
