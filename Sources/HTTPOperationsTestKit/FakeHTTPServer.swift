internal import CompositeOperations
public import Foundation
public import HTTPOperations

/// A server in memory for tests: requests of its session are answered by a function, and nothing is
/// sent.
///
/// ```swift
/// import HTTPOperations
/// import HTTPOperationsTestKit
///
/// let server = FakeHTTPServer { request in
///   request.url.path == "/names" ? .init("[\"Ada\"]") : .init(404)
/// }
/// let names = HTTPDataOperation(url, session: server.session).decoding([String].self)
/// ```
///
/// Redirects, limits, retries, credentials and errors are as with a real server. There are no
/// timeouts, and lengths and codings of bodies are not checked.
public final class FakeHTTPServer: Sendable {
  /// A request that the server received.
  public struct Request: Sendable, Hashable {
    /// The URL.
    public let url: URL
    /// The method in upper case.
    public let method: String
    /// The headers.
    public let headers: HTTPHeaders
    /// The whole body.
    public let body: Data
  }

  /// An answer of the server.
  public struct Answer: Sendable {
    enum Kind: Sendable {
      case response(status: Int, headers: HTTPHeaders, body: [[UInt8]])
      case failure(HTTPTransferError.Reason, wasSent: Bool)
      case never
    }

    let kind: Kind
    /// The failure that ends the body; nil if it is complete.
    var interruption: HTTPTransferError.Reason?

    /// A response.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The headers.
    ///   - body: The body as it arrives, in parts, not compressed.
    public init(_ status: Int = 200, headers: HTTPHeaders = [:], body: [[UInt8]] = []) {
      kind = .response(status: status, headers: headers, body: body)
    }

    /// A response with a text as its body.
    public init(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) {
      self.init(status, headers: headers, body: [Array(text.utf8)])
    }

    private init(kind: Kind) { self.kind = kind }

    /// No response: the request ends in an `HTTPTransferError`.
    ///
    /// - Parameters:
    ///   - reason: The reason of the error.
    ///   - wasSent: Whether a server may have received the request.
    public static func failure(
      _ reason: HTTPTransferError.Reason, wasSent: Bool = true
    ) -> Answer {
      Answer(kind: .failure(reason, wasSent: wasSent))
    }

    /// No response: the request waits until it is cancelled.
    public static let never = Answer(kind: .never)

    /// The same response, whose body ends in an error.
    public func interrupted(_ reason: HTTPTransferError.Reason = .connectionLost) -> Answer {
      var answer = self
      answer.interruption = reason
      return answer
    }
  }

  private let transport: FakeTransport
  /// The session that sends its requests to this server.
  public let session: HTTPSession

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of its session.
  ///   - interceptors: The interceptors of its session, as those of a session that sends requests.
  ///   - answer: Answers a request. It must not block.
  public init(
    _ configuration: HTTPConfiguration = HTTPConfiguration(),
    interceptors: [any HTTPInterceptor] = [], answer: @escaping @Sendable (Request) -> Answer
  ) {
    transport = FakeTransport(answer)
    session = HTTPSession(configuration, interceptors: interceptors, on: transport)
  }

  /// The requests that the server received, in order.
  public var requests: [Request] { transport.requests }
}
