#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import Foundation
  internal import SystemSupport

  /// A request and its response as a transfer of libcurl. Only the thread of the transport uses it.
  @safe final class CurlTransfer {
    let exchange: HTTPExchange
    let handle: UnsafeMutableRawPointer
    let news: CurlNews
    private(set) var parser: HeadParser
    /// Why a callback ended the transfer.
    private(set) var failure: HTTPTransportError?
    private var headers: UnsafeMutablePointer<curl_slist>?
    let message: UnsafeMutablePointer<CChar>
    /// The time at which it began, in nanoseconds.
    private let beginning = MonotonicTime.now
    /// The time of the last activity in nanoseconds.
    private(set) var lastActivity: Int64
    /// The time at which the end of the request was sent, in nanoseconds.
    private var sentTime: Int64?
    /// How many bytes of the request's body have been sent.
    private var sentCount = 0
    /// How many times the request was to be sent.
    private(set) var startCount = 0
    /// How many bytes of the body have been received.
    private(set) var receivedCount = 0
    /// The socket of a new connection.
    private var newSocket: curl_socket_t?
    /// Why the last socket could not be made.
    private(set) var socketError: SystemError?
    /// The proxy that the request is sent through.
    private(set) var proxy: CurlProxy?
    /// Whether the idle connection could not be used.
    private(set) var isUnusable = false
    private var isReceivingPaused = false
    private var isSendingPaused = false
    /// The maximum time without activity, in nanoseconds.
    let timeout: Int64
    let limits: HTTPPhaseLimits
    let unixSocket: CurlUnixSocket?
    private let cookies: CurlCookies?
    private let checksIdleConnections: Bool
    private let observesStream: Bool
    private var isHeadSent = false
    /// Whether the request was sent on a connection of HTTP/2.
    private(set) var isOnHTTP2 = false
    /// The stream of the request, if the connection may be of HTTP/2.
    private(set) var stream: CurlStream?

    init(
      _ exchange: HTTPExchange, _ settings: CurlSettings, _ news: CurlNews, _ cookies: CurlCookies?
    ) {
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
      limits = settings.limits
      unixSocket = settings.unixSocket
      self.cookies = cookies
      lastActivity = beginning
      checksIdleConnections = settings.checksIdleConnections(request)
      observesStream = settings.mayUseHTTP2(request)
      let isLoopback = request.url.isLoopback
      proxy = isLoopback ? nil : settings.proxy
      unsafe settings.apply(to: handle)
      if let cookies {
        unsafe composite_curl_set_pointer(handle, CURLOPT_SHARE, cookies.handle)
        // Reads no file, but lets libcurl send and receive cookies.
        set(CURLOPT_COOKIEFILE, "")
      }
      setRequest(request, isOnly: settings.needsOwnConnection(request))
      // A proxy would receive what is sent without TLS only because no network does.
      if isLoopback { set(CURLOPT_PROXY, "") }
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
      if isReceivingPaused || isSendingPaused { return .max }
      return min(lastActivity + timeout, phaseDeadline)
    }

    /// The time at which the current phase has lasted too long, in nanoseconds.
    private var phaseDeadline: Int64 {
      if !hasBegun { return limits.end(of: limits.connect, from: beginning) }
      guard let sentTime = awaitsResponse ? sentTime : nil else { return .max }
      return limits.end(of: limits.response, from: sentTime)
    }

    /// Whether the request was sent, and nothing of a response has been received.
    var awaitsResponse: Bool { sentTime != nil && !parser.hasBegun }

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
        // libcurl appends it to the cookies of the session. Otherwise there would be two headers.
        if cookies != nil, field.isNamed("Cookie") {
          set(CURLOPT_COOKIE, field.value)
          continue
        }
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
      if exchange.request.body.byteCount == 0 { endSending() }
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
          HTTPResponseHead(
            url: exchange.request.url, status: status, headers: headers,
            timings: HTTPTimings(self)))
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

    private func endSending() {
      sentTime = lastActivity
      news.add(deadline: phaseDeadline)
    }

    private func takeBytes(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      begin()
      news.add(exchange)
      if let count = unsafe exchange.takeBytes(into: buffer) {
        sentCount += count
        if count == 0 || sentCount == exchange.request.body.byteCount { endSending() }
        return count
      }
      isSendingPaused = true
      return Int(CURL_READFUNC_PAUSE)
    }

    func number(_ info: CURLINFO) -> Int { unsafe composite_curl_number(handle, info) }
  }
#endif
