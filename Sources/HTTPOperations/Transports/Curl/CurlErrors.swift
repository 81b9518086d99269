#if !canImport(Darwin)
  internal import CCurl
  internal import Foundation

  extension HTTPTransferError.Reason {
    /// - Parameter text: The message of libcurl, which has details that the code has not.
    init(_ transfer: CurlTransfer, _ result: CURLcode, _ text: String) {
      let status = transfer.number(CURLINFO_HTTP_CONNECTCODE)
      switch result {
      case _ where transfer.lacksFiles(result): self = .tooManyOpenFiles
      case _ where !transfer.hasBegun && (300..<500).contains(status):
        let proxy = transfer.proxy.map { " \($0.address)" } ?? ""
        self = .badRequest("the proxy\(proxy) refused to connect, with status \(status)")
      case _ where !transfer.hasBegun && status >= 500: self = .cannotConnect
      case CURLE_PROXY: self = Self.refusal(of: transfer)
      case CURLE_COULDNT_RESOLVE_HOST: self = .hostNotFound
      case CURLE_COULDNT_RESOLVE_PROXY: self = .cannotConnect
      case CURLE_COULDNT_CONNECT:
        let code = Int32(truncatingIfNeeded: transfer.number(CURLINFO_OS_ERRNO))
        self = [ENETUNREACH, ENETDOWN].contains(code) ? .offline : .cannotConnect
      case CURLE_OPERATION_TIMEDOUT: self = .timedOut
      // With TLS 1.3, the server refuses the client after the handshake.
      case CURLE_RECV_ERROR where text.contains("alert") && text.contains("certificate"):
        self = .notSecure
      case CURLE_RECV_ERROR
      where text.contains("chunk") || text.hasPrefix("Too large response headers"):
        self = .badAnswer
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
        CURLE_HTTP2_STREAM:
        self = .connectionLost
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
        self = .certificateRefused
      case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED: self = .notSecure
      case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
        self = .badRequest("a file of the session's certificates cannot be used")
      case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
        self = .badAnswer
      // A line of a header cannot be parsed.
      case CURLE_BAD_FUNCTION_ARGUMENT where transfer.hasBegun: self = .badAnswer
      // The memory for a line of a header is limited.
      case CURLE_OUT_OF_MEMORY where !transfer.hasHead: self = .badAnswer
      case CURLE_URL_MALFORMAT: self = .badRequest("the URL is invalid")
      default: self = .other(code: Int(result.rawValue))
      }
    }

    /// The refusal by a proxy for SOCKS.
    private static func refusal(of transfer: CurlTransfer) -> Self {
      let permanent = [CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REPLY_NOT_ALLOWED]
      let number = transfer.number(CURLINFO_PROXY_ERROR)
      guard permanent.contains(where: { Int($0.rawValue) == number }) else { return .cannotConnect }
      let address = transfer.proxy.map { " \($0.address)" } ?? ""
      return .badRequest("the proxy\(address) refused to connect")
    }
  }
#endif
