#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import Foundation
  internal import SystemSupport

  extension CurlTransfer {
    /// Ends the exchange. The transfer must not be used afterwards.
    func end(_ result: CURLcode) {
      exchange.end(error(result))
      if let connection = stream?.connection { news.connections.leave(connection) }
      news.add(exchange)
    }

    /// The limit of time that a transfer that timed out has exceeded; nil if it is one of libcurl.
    private var exceededLimit: HTTPTransferError.Timeout? {
      if !hasBegun, let limit = limits.connect, limit.inNanoseconds <= timeout {
        return .connect(limit)
      }
      if awaitsResponse, let limit = limits.response, limit.inNanoseconds <= timeout {
        return .response(limit)
      }
      return MonotonicTime.now - lastActivity < timeout ? nil : .idle(exchange.request.timeout)
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
      if result == CURLE_OPERATION_TIMEDOUT, let exceededLimit {
        return HTTPTransportError(
          exceededLimit, wasSent: startCount > 0, proxy: isOfProxy(result) ? proxy?.address : nil)
      }
      if let unixSocket, result == CURLE_COULDNT_CONNECT, !lacksFiles(result) {
        return unixSocket.error(Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO)))
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
  }

  extension HTTPTimings {
    fileprivate static func time(_ transfer: CurlTransfer, _ info: CURLINFO) -> Duration {
      .microseconds(unsafe composite_curl_time(transfer.handle, info))
    }

    /// The times until now. libcurl also measures them if it uses a connection again, and counts
    /// them from the beginning.
    init(_ transfer: CurlTransfer) {
      let lookup = Self.time(transfer, CURLINFO_NAMELOOKUP_TIME_T)
      let connect = Self.time(transfer, CURLINFO_CONNECT_TIME_T)
      let secure = Self.time(transfer, CURLINFO_APPCONNECT_TIME_T)
      let isNew = transfer.number(CURLINFO_NUM_CONNECTS) > 0
      self.init(
        nameLookup: isNew ? lookup : .zero,
        connect: isNew ? max(.zero, connect - lookup) : .zero,
        tls: isNew ? max(.zero, secure - connect) : .zero,
        preTransfer: Self.time(transfer, CURLINFO_PRETRANSFER_TIME_T),
        firstByte: Self.time(transfer, CURLINFO_STARTTRANSFER_TIME_T))
    }
  }
#endif
