#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import Foundation
  internal import SystemSupport

  /// The longest phases of a transfer; nil for no limit.
  struct HTTPPhaseLimits {
    let connect: Duration?
    let response: Duration?

    /// - Returns: The end of a phase in nanoseconds.
    func end(of limit: Duration?, from start: Int64) -> Int64 {
      // Sums of times do not overflow.
      limit.map { start + min($0.inNanoseconds, .max / 4) } ?? .max
    }
  }

  /// The settings that all transfers of a transport have.
  struct CurlSettings {
    let headerLimit: Int
    let limits: HTTPPhaseLimits
    /// Whether all connections are of HTTP/2.
    private let isHTTP2: Bool
    /// Whether no connections are of HTTP/2.
    private let isHTTP1: Bool
    /// The proxy of all requests; nil if there is none, or if the system determines it.
    private(set) var proxy: CurlProxy?
    /// Whether a variable of the environment may set the proxy of a request.
    let mayUseProxyOfSystem: Bool
    /// The socket that requests are sent to; nil for the hosts of their URLs.
    let unixSocket: CurlUnixSocket?
    /// Why no request can be sent; nil if they can.
    let problem: String?
    private var strings: [(option: CURLoption, value: String?)] = []
    private var numbers: [(option: CURLoption, value: Int)] = []

    init(_ configuration: HTTPConfiguration) {
      headerLimit = configuration.headerLimit
      limits = HTTPPhaseLimits(
        connect: configuration.connectTimeout, response: configuration.responseTimeout)
      if let limit = limits.connect {
        // libcurl tries the next address of a host when half of the time is over.
        let milliseconds = min(limit.inNanoseconds / 1_000_000, Int64(Int32.max) - 1) + 1
        numbers.append((CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds)))
      }
      isHTTP2 = configuration.version == .http2
      isHTTP1 = configuration.version == .http1
      let variables = ProcessInfo.processInfo.environment
      mayUseProxyOfSystem =
        configuration.proxy == .system && configuration.unixSocket == nil
        && variables.contains { $0.key.lowercased().hasSuffix("_proxy") && !$0.value.isEmpty }
      switch configuration.version {
      case .automatic: numbers.append((CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS))
      case .http1: numbers.append((CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1))
      case .http2:
        numbers.append((CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
      }
      numbers.append((CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2))
      // The headers of a proxy are not part of the response.
      numbers.append((CURLOPT_SUPPRESS_CONNECT_HEADERS, 1))
      unixSocket = configuration.unixSocket.map { CurlUnixSocket(path: $0) }
      problem = unixSocket?.problem ?? (configuration.keepsCookies ? CurlCookies.problem : nil)
      if let unixSocket { strings.append((CURLOPT_UNIX_SOCKET_PATH, unixSocket.path)) }
      switch configuration.proxy {
      case _ where unixSocket != nil: strings.append((CURLOPT_PROXY, ""))
      case .system: break
      case .none: strings.append((CURLOPT_PROXY, ""))
      case .url(let url):
        proxy = CurlProxy(url.absoluteString)
        strings.append((CURLOPT_PROXY, url.absoluteString))
        // Not the variable of the environment.
        strings.append((CURLOPT_NOPROXY, ""))
      }
      let certificates = configuration.certificates
      if let authorities = certificates.authorities {
        // In place of the folder of the system, too.
        strings += [
          (CURLOPT_CAINFO, authorities.path), (CURLOPT_PROXY_CAINFO, authorities.path),
          (CURLOPT_CAPATH, nil), (CURLOPT_PROXY_CAPATH, nil),
        ]
      } else {
        // Only the program `curl` reads these by itself.
        for (options, name) in [
          ([CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO], "SSL_CERT_FILE"),
          ([CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH], "SSL_CERT_DIR"),
        ] {
          guard let path = variables[name], !path.isEmpty else { continue }
          strings += options.map { ($0, path) }
        }
      }
      if let client = certificates.client {
        strings.append((CURLOPT_SSLCERT, client.path))
        strings.append((CURLOPT_SSLKEY, (certificates.key ?? client).path))
      }
      if let password = certificates.keyPassword {
        strings.append((CURLOPT_KEYPASSWD, password))
      }
    }

    /// Whether libcurl was built with a feature.
    static func supports(_ feature: Int32) -> Bool {
      unsafe curl_version_info(CURLVERSION_FIRST).pointee.features & feature != 0
    }

    private static let version =
      unsafe curl_version_info(CURLVERSION_FIRST).pointee.version_num

    /// Since libcurl 8.7, all transfers of a transport use one buffer, so that a waiting request
    /// needs none.
    private static let sharesBuffers = version >= 0x080700

    /// libcurl begins HTTP/2 anew with every request on a connection without TLS, which ends the
    /// second one with an error. Version 8.0.0 corrected that.
    private static let canReusePlainHTTP2 = version >= 0x080000

    /// The size of the buffer for received bytes.
    ///
    /// With HTTP/2, libcurl 7.88 does not notice the end of a body if the buffer is smaller than a
    /// frame, of 16 KB.
    func bufferSize(for request: HTTPTransportRequest) -> Int {
      let isLarge = request.expectsLargeBody || Self.sharesBuffers || mayUseHTTP2(request)
      return isLarge ? 128 << 10 : 4 << 10
    }

    /// Whether the connection of a request may be of HTTP/2.
    func mayUseHTTP2(_ request: HTTPTransportRequest) -> Bool {
      isHTTP2 || request.url.scheme?.lowercased() == "https" && !isHTTP1
    }

    /// Whether bytes that have arrived on an idle connection are a mistake of the server. With TLS
    /// or HTTP/2, they may have another meaning.
    func checksIdleConnections(_ request: HTTPTransportRequest) -> Bool {
      !isHTTP2 && request.url.scheme?.lowercased() == "http"
    }

    /// Whether a request must be the only one of its connection. Connections of a Unix socket have
    /// no addresses, by which an idle one could be checked.
    func needsOwnConnection(_ request: HTTPTransportRequest) -> Bool {
      unixSocket != nil
        || isHTTP2 && !Self.canReusePlainHTTP2 && request.url.scheme?.lowercased() == "http"
    }

    /// Whether a request may be sent on the same connection as others at the same time.
    func mayShareConnection(_ request: HTTPTransportRequest) -> Bool {
      mayUseHTTP2(request) && !needsOwnConnection(request)
    }

    func apply(to handle: UnsafeMutableRawPointer) {
      unsafe composite_curl_set_defaults(handle)
      for (option, value) in numbers { unsafe composite_curl_set_number(handle, option, value) }
      for (option, value) in strings { unsafe composite_curl_set_string(handle, option, value) }
    }
  }
#endif
