internal import CompositeOperations
internal import Foundation
internal import OperationTracing
internal import SystemSupport

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A session that sends HTTP requests, with its configuration and its connections.
///
/// ```swift
/// import HTTPOperations
///
/// var configuration = HTTPConfiguration()
/// configuration.timeout = .seconds(20)
/// let session = HTTPSession(configuration)
/// let data = HTTPDataOperation(url, session: session)
/// ```
///
/// Any number of operations may use a session at the same time. It ends, with its connections, when
/// the last of them has released it. It stores nothing on disk, and no cookies unless
/// ``HTTPConfiguration/keepsCookies`` is set.
///
/// On Linux it is based on libcurl, on a thread of its own that begins with the first request; on
/// Apple platforms on `URLSession`.
public final class HTTPSession: Sendable {
  /// The default session.
  public static let shared = HTTPSession()

  private let transport: any HTTPTransport
  let interceptors: [any HTTPInterceptor]
  let configuration: HTTPConfiguration

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - interceptors: The interceptors of its requests, in the order in which they change a
  ///     request.
  /// - Precondition: The `timeout`, the `connectTimeout`, the `responseTimeout`, the
  ///   `connectionsPerHost`, the `connectionWait` and the `headerLimit` of the configuration are
  ///   positive.
  public convenience init(
    _ configuration: HTTPConfiguration = HTTPConfiguration(),
    interceptors: [any HTTPInterceptor] = []
  ) {
    #if canImport(Darwin)
      let transport = URLSessionTransport(configuration)
    #else
      let transport = CurlTransport(configuration)
    #endif
    self.init(configuration, interceptors: interceptors, on: transport)
  }

  package init(
    _ configuration: HTTPConfiguration, interceptors: [any HTTPInterceptor] = [],
    on transport: any HTTPTransport
  ) {
    precondition(
      configuration.timeout > .zero && configuration.connectTimeout ?? .seconds(1) > .zero
        && configuration.responseTimeout ?? .seconds(1) > .zero
        && configuration.connectionsPerHost > 0
        && configuration.connectionWait > .zero && configuration.headerLimit > 0,
      "the times and the limits of a session must be positive")
    self.configuration = configuration
    self.interceptors = interceptors
    self.transport = transport
  }

  /// Sends a request and follows its redirects.
  ///
  /// - Parameters:
  ///   - expectsLargeBody: Whether the body of the response is probably large.
  ///   - sent: Receives the number of bytes that have been sent.
  ///   - context: The context of the run, which receives the attributes of the request.
  ///   - receive: Receives a response whose status is below 400, and returns when it needs no more
  ///     of the body.
  /// - Returns: What `receive` returned.
  func perform<Value: Sendable>(
    _ request: URLRequest, body: HTTPRequestBody, summary: HTTPRequestSummary,
    options: HTTPRequestOptions, expectsLargeBody: Bool = false, sent: TransferProgress? = nil,
    in context: OperationContext,
    receive: nonisolated(nonsending) (HTTPResponseHead, HTTPBodyReader) async throws -> Value
  ) async throws -> Value {
    do {
      return try await perform(
        withTraceParent(request, of: context), body, summary, options, expectsLargeBody, sent,
        context, receive)
    } catch {
      context.failed(by: error)
      throw error
    }
  }

  /// The request with the header `traceparent` of a run, if the session sends that and the request
  /// does not have it.
  private func withTraceParent(_ request: URLRequest, of context: OperationContext) -> URLRequest {
    let name = "traceparent"
    guard configuration.sendsTraceParent, request.value(forHTTPHeaderField: name) == nil,
      let parent = context.traceParent
    else { return request }
    var request = request
    request.setValue(parent.text, forHTTPHeaderField: name)
    return request
  }

  private func perform<Value: Sendable>(
    _ request: URLRequest, _ body: HTTPRequestBody, _ summary: HTTPRequestSummary,
    _ options: HTTPRequestOptions, _ expectsLargeBody: Bool, _ sent: TransferProgress?,
    _ context: OperationContext,
    _ receive: nonisolated(nonsending) (HTTPResponseHead, HTTPBodyReader) async throws -> Value
  ) async throws -> Value {
    var route = HTTPRoute(
      request, adding: configuration.headers, body: body, summary: summary,
      redirects: options.redirects)
    var needsNewConnection = false
    var refusals = 0
    var repetitions = HTTPRepetitions(by: interceptors)
    var hasResponse = false
    var sendCount = 0
    while true {
      try Task.checkCancellation()
      // Redirects and repetitions begin with the request that interceptors have not changed.
      let sentRoute: HTTPRoute
      do { sentRoute = try await route.intercepted(by: interceptors) } catch {
        throw hasResponse ? HTTPInterceptorError.error(of: route.summary, for: error) : error
      }
      let (body, summary) = (sentRoute.body, sentRoute.summary)
      let next = try sentRoute.transportRequest(
        with: configuration, onNewConnection: needsNewConnection,
        expectsLargeBody: expectsLargeBody)
      let limit = configuration.connectionsPerHost
      if HeldConnection.count(to: next.host, on: transport) >= limit {
        throw HTTPTransferError(
          HTTPTransportError(.deadlock, "connectionsPerHost is \(limit)", wasSent: false),
          of: summary)
      }
      context.willSend(summary, to: next.url, resendCount: sendCount)
      sendCount += 1
      let exchange = HTTPExchange(next, on: transport)
      do {
        let end = try await withTaskCancellationHandler {
          if !body.needsSender(reporting: sent) {
            return try await self.end(
              of: exchange, sentRoute, options, context, receive)
          }
          // Cancelled and awaited when the response has ended.
          async let _: Void = body.send(on: exchange, progress: sent)
          return try await self.end(
            of: exchange, sentRoute, options, context, receive)
        } onCancel: {
          exchange.cancel()
        }
        hasResponse = true
        switch end {
        case .answered(let value): return value
        case .redirected(let head):
          try route.follow(head)
          needsNewConnection = false
          refusals = 0
        case .failed(let error):
          // The exchange has ended, so interceptors hold no connection while they wait.
          let request = sentRoute.request
          guard try await repetitions.areRequested(for: request, after: error) else { throw error }
          needsNewConnection = false
          refusals = 0
        }
      } catch let error as HTTPTransportError where error.wasRefused {
        refusals += 1
        if refusals > Self.refusalLimit { throw HTTPTransferError(error, of: summary) }
        // Another connection may end, too, before it has processed all requests that wait for it.
        // The first request of a connection is processed.
        needsNewConnection = refusals > 2
      } catch let error as HTTPTransportError {
        // The server has closed the idle connection on which the request was sent, or would have
        // been.
        guard error.wasIdle, summary.isRepeatable || !error.wasSent, !needsNewConnection else {
          throw HTTPTransferError(error, of: summary)
        }
        needsNewConnection = true
      }
    }
  }

  /// How often a request is sent again that the server refuses without processing it.
  private static let refusalLimit = 5

  private enum End<Value: Sendable>: Sendable {
    case answered(Value)
    case redirected(HTTPResponseHead)
    case failed(HTTPStatusError)
  }

  /// Receives a response. When this returns, the transport uses nothing of the caller.
  private func end<Value: Sendable>(
    of exchange: HTTPExchange, _ route: HTTPRoute, _ options: HTTPRequestOptions,
    _ context: OperationContext,
    _ receive: nonisolated(nonsending) (HTTPResponseHead, HTTPBodyReader) async throws -> Value
  ) async throws -> End<Value> {
    do {
      let end = try await received(exchange, route, options, context, receive)
      await exchange.close()
      return end
    } catch {
      await exchange.close()
      throw error
    }
  }

  private func received<Value: Sendable>(
    _ exchange: HTTPExchange, _ route: HTTPRoute, _ options: HTTPRequestOptions,
    _ context: OperationContext,
    _ receive: nonisolated(nonsending) (HTTPResponseHead, HTTPBodyReader) async throws -> Value
  ) async throws -> End<Value> {
    let head = try await exchange.head()
    context.received(head)
    let reader = HTTPBodyReader(exchange, head, of: route.summary, options.bodyDecoding)
    if route.follows(head) {
      await reader.drain()
      return .redirected(head)
    }
    if head.status >= 400 {
      let body = await reader.start(limit: options.errorBodyLimit)
      return .failed(HTTPStatusError(request: route.summary, head: reader.head, body: body))
    }
    return .answered(try await receive(reader.head, reader))
  }
}
