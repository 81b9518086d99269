public import Foundation

/// The configuration of a session.
///
/// ```swift
/// import HTTPOperations
///
/// var configuration = HTTPConfiguration()
/// configuration.headers = ["Authorization": "Bearer 1234"]
/// configuration.timeout = .seconds(20)
/// let session = HTTPSession(configuration)
/// ```
public struct HTTPConfiguration: Sendable, Hashable {
  /// A version of HTTP.
  public enum Version: Sendable, Hashable {
    /// HTTP/2 over TLS if the server supports it, otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1.
    case http1
    /// HTTP/2 from the first byte, even without TLS, for servers that are known to support it.
    /// Apple platforms use `automatic` instead.
    case http2
  }

  /// A way to connect to servers.
  public enum Proxy: Sendable, Hashable {
    /// As the system is configured: on Linux by the variables `http_proxy`, `https_proxy`,
    /// `all_proxy` and `no_proxy`.
    case system
    /// Without a proxy.
    case none
    /// Through a proxy, whatever the variables are. Its URL may have a user and a password. The
    /// schemes are `http`, `https`, `socks4`, `socks5` and `socks5h`.
    case url(URL)
  }

  /// Certificates for TLS, as files in PEM format. Only for Linux: Apple platforms use their
  /// keychains.
  public struct Certificates: Sendable, Hashable {
    /// The file of the only trusted authorities; nil for the variables `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR`, or else the authorities of the system.
    public var authorities: URL?
    /// The file of the client's certificate.
    public var client: URL?
    /// The file of the private key of the client; nil if it is in the file of its certificate.
    public var key: URL?
    /// The password of the private key.
    public var keyPassword: String?

    /// Creates the certificates of the system.
    public init() {}
  }

  /// Headers that are added to requests that do not have them. `Authorization`, `Cookie` and
  /// `Proxy-Authorization` are removed when a request is redirected to another server.
  public var headers: HTTPHeaders = [:]
  /// The maximum time in which nothing is sent or received. A request with a `timeoutInterval` that
  /// is not 60 seconds, which is the default, uses that.
  public var timeout = Duration.seconds(60)
  /// The maximum time until a request is connected: the lookup of the host, the connection and the
  /// handshake of TLS. Nil for no other limit than ``timeout``. Only for Linux.
  public var connectTimeout: Duration?
  /// The maximum time from the end of the request until the first line of a response arrives. It
  /// begins when libcurl has taken the last bytes of the request. Up to 64 KB of them may not be
  /// sent yet if the connection is slow, so that sending them counts, too. Nil for no other limit
  /// than ``timeout``. Only for Linux.
  public var responseTimeout: Duration?
  /// The maximum number of connections, and of requests at the same time, to a host. Further
  /// requests wait for at most ``connectionWait``. A request that is made inside the function of a
  /// stream ends in a ``HTTPTransferError/Reason/deadlock`` if such streams hold all of them.
  public var connectionsPerHost = 64
  /// The maximum time that requests wait because ``connectionsPerHost`` others of their host are
  /// running. It begins again when one of the waiting requests begins, so a long queue that moves
  /// does not end in an error. Only for Linux.
  public var connectionWait = Duration.seconds(3_600)
  /// The maximum size of the headers of a response in bytes, including those of informational
  /// responses and of the trailer. libcurl has limits of its own: 100 KB for a line, and 300 KB for
  /// all. Only for Linux.
  public var headerLimit = 256 << 10
  /// The version of HTTP.
  public var version = Version.automatic
  /// The proxy.
  ///
  /// A request to a loopback address (`localhost`, 127.0.0.0/8 or `::1`) is never sent through a
  /// proxy: bearer tokens and `Secure` cookies may be sent to these without TLS. On Apple
  /// platforms, `URLSession` decides about that.
  public var proxy = Proxy.system
  /// The path of a Unix socket, such as `/var/run/docker.sock`, to which all requests and redirects
  /// are sent; nil to connect to the hosts of their URLs. No proxy is used, and each request has a
  /// connection of its own. The host of a URL is the `Host` of its request, and the name in a
  /// certificate. ``connectionsPerHost`` is the limit for all requests of the session.
  ///
  /// The path has at most 107 bytes. With a longer one, and on Apple platforms, requests end in a
  /// ``HTTPTransferError/Reason/badRequest(_:)``.
  public var unixSocket: String?
  /// Whether the session keeps the cookies of servers, until its end, and sends them with its later
  /// requests and redirects to the hosts and paths that they are for (RFC 6265). `Secure` cookies
  /// are sent only by https and to loopback addresses. The `Cookie` of a request is added to them;
  /// if the cookies of the session for it have more than 8,190 bytes, libcurl omits some of them,
  /// and the `Cookie` of the request. The number of cookies that a session keeps is not limited.
  ///
  /// A cookie for all hosts of a public suffix, such as `co.uk`, is refused. libcurl needs libpsl
  /// for that. Without it, requests end in a ``HTTPTransferError/Reason/badRequest(_:)``. On Apple
  /// platforms, `URLSession` keeps the cookies.
  public var keepsCookies = false
  /// Whether requests have the header `traceparent` of
  /// [W3C Trace Context](https://www.w3.org/TR/trace-context/), with the identifiers that the span
  /// of their run has in the traces of this process. Servers that export traces show their spans
  /// below it.
  ///
  /// Requests of runs that are not observed do not have the header. A request keeps its own. Every
  /// server that the session sends requests to receives the identifiers, after redirects too.
  public var sendsTraceParent = false
  /// The certificates for TLS.
  public var certificates = Certificates()

  /// Creates the default configuration.
  public init() {}
}
