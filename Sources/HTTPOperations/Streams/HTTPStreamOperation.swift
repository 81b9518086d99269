public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An operation that sends an HTTP request, and passes the response to a function while its body
/// arrives.
///
/// ```swift
/// import HTTPOperations
///
/// let lineCount = HTTPStreamOperation(url) { response in
///   var count = 0
///   for try await bytes in response { count += bytes.count { $0 == 0x0A } }
///   return count
/// }
/// ```
///
/// The result of the function is the result of the operation. When the function returns, the
/// request ends, and the rest of its body is not received. A slow function makes the server wait
/// (back pressure), without a timeout. A connection is in use until then, so give requests that
/// take long a session of their own if there may be as many as its `connectionsPerHost`. A request
/// that the function makes to the same host and with the same session ends in a
/// ``HTTPTransferError/Reason/deadlock`` if such functions hold all connections.
///
/// If the connection is lost, the function has received a part of the body, and the sequence ends
/// in an ``HTTPTransferError``. All errors of the operation, except those of the function itself
/// and of an ``HTTPInterceptor`` of the session, conform to ``HTTPRequestError``, as for
/// ``HTTPDataOperation``.
public struct HTTPStreamOperation<Success: Sendable>: ComposableOperation {
  private let request: URLRequest
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary
  private let receive: nonisolated(nonsending) @Sendable (HTTPStream) async throws -> Success

  /// Creates an operation that sends a request.
  ///
  /// - Parameters:
  ///   - request: The request. It must not have an `httpBodyStream`, and a GET must not have an
  ///     `httpBody`.
  ///   - options: The options of the request. The `bodyLimit` is the limit of an event or a line.
  ///   - session: The session that sends the request.
  ///   - receive: Receives a response whose status is below 400.
  public init(
    _ request: URLRequest, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared,
    receive: nonisolated(nonsending) @escaping @Sendable (HTTPStream) async throws -> Success
  ) {
    self.request = request
    self.options = options
    self.session = session
    self.receive = receive
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Creates an operation that gets a URL.
  ///
  /// - Parameters:
  ///   - url: The URL to get.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  ///   - receive: Receives a response whose status is below 400.
  public init(
    _ url: URL, options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared,
    receive: nonisolated(nonsending) @escaping @Sendable (HTTPStream) async throws -> Success
  ) {
    self.init(URLRequest(url: url), options: options, session: session, receive: receive)
  }

  /// The method and the URL of the request, without secrets.
  public var operationName: String { "stream \(summary)" }

  /// Sends the request, and receives the response with the function.
  ///
  /// - Throws: An ``HTTPRequestError``, the error of the function or of an interceptor, and
  ///   `CancellationError` if the run is cancelled.
  public func perform(in context: OperationContext) async throws -> Success {
    var request = request
    let body = try HTTPRequestBody(takenFrom: &request, of: summary)
    return try await session.perform(
      request, body: body, summary: summary, options: options, in: context
    ) {
      head, reader in
      try await reader.exchange.whileHeld {
        try await receive(
          HTTPStream(head: head, reader: reader, limit: options.bodyLimit, request: summary))
      }
    }
  }
}

extension HTTPStreamOperation: CustomReflectable {
  /// The name, because the request may have secrets.
  public var customMirror: Mirror { Mirror(naming: self) }
}

/// A response whose body arrives while it is used: a sequence of its bytes.
///
/// It can be iterated once, by the function that receives it.
public struct HTTPStream: AsyncSequence {
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The status code of the response.
  public var status: Int { head.status }
  /// The headers of the response.
  public var headers: HTTPHeaders { head.headers }

  let reader: HTTPBodyReader
  /// The maximum size of an event or a line in bytes.
  let limit: Int
  let request: HTTPRequestSummary

  /// The bytes as they arrive, decompressed; nil at the end of a complete body.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: HTTPBodyReader

    /// - Throws: ``HTTPTransferError`` if the body is not complete, and `CancellationError` if the
    ///   run is cancelled.
    public nonisolated(nonsending) mutating func next() async throws -> [UInt8]? {
      try await reader.next()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }
}
