public import CompositeOperations
internal import CompositeOperationsFoundation
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An operation that sends an HTTP request and returns the response with its whole body.
///
/// ```swift
/// import HTTPOperations
///
/// let repositories = HTTPDataOperation(url)
///   .decoding([String].self)
///   .retryingHTTP(attempts: 3)
/// ```
///
/// Every status from 400 on is an error. The body is kept in memory, up to
/// ``HTTPRequestOptions/bodyLimit``. The run reports its progress in received bytes. A cancellation
/// ends the request at once. With an ``HTTPCache``, the server need not send a body again that has
/// not changed.
///
/// Without interceptors, all errors of the operation conform to ``HTTPRequestError``:
///
/// - ``HTTPStatusError``: the server refused the request.
/// - ``HTTPTransferError``: there was no response, or only a part of one.
/// - ``HTTPBodyLimitError``: the response is too large.
/// - ``HTTPRedirectError``: a redirect is invalid, or there are too many.
/// - ``HTTPFileError``: other users have access to the folder of the cache.
///
/// The error of an ``HTTPInterceptor`` of the session is the error of the run, whatever its type is.
public struct HTTPDataOperation: ComposableOperation {
  private let request: URLRequest
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary
  private let cache: HTTPCache?

  /// Creates an operation that sends a request.
  ///
  /// - Parameters:
  ///   - request: The request. It must not have an `httpBodyStream`, and a GET must not have an
  ///     `httpBody`.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  ///   - cache: The cache that keeps the response; nil for none. Only requests that are a GET use
  ///     it.
  public init(
    _ request: URLRequest, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared, cache: HTTPCache? = nil
  ) {
    self.request = request
    self.options = options
    self.session = session
    self.cache = cache
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Creates an operation that gets a URL.
  ///
  /// - Parameters:
  ///   - url: The URL to get.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  ///   - cache: The cache that keeps the response; nil for none. Only requests that are a GET use
  ///     it.
  public init(
    _ url: URL, options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared,
    cache: HTTPCache? = nil
  ) {
    self.init(URLRequest(url: url), options: options, session: session, cache: cache)
  }

  /// The method and the URL of the request, without secrets.
  public var operationName: String { "\(summary)" }

  /// Sends the request and returns the response.
  ///
  /// - Throws: An ``HTTPRequestError``, the error of an interceptor, and `CancellationError` if the
  ///   run is cancelled.
  public func perform(in context: OperationContext) async throws -> HTTPDataResponse {
    guard let cache, let cached = CachedRequest(request, in: session) else {
      return try await send(request, in: context)
    }
    let limit = options.bodyLimit
    let kept: CachedResponse?
    do {
      kept = try await HTTPThreads.files.run { try cache.response(for: cached, bodyLimit: limit) }
    } catch let error as FileError {
      throw HTTPFileError(error, of: summary)
    }
    var response = try await send(kept?.condition(of: request) ?? request, in: context)
    if let kept, response.status == 304 {
      if let head = kept.head(confirmedBy: response.head, of: cached) {
        if response.headers.forbidsStoring {
          await HTTPThreads.files.run { cache.replace(nil, of: cached) }
        }
        return HTTPDataResponse(head: head, body: kept.body, request: summary, isNotModified: true)
      }
      response = try await send(request, in: context)
    }
    let new = CachedResponse(response, of: cached)
    await HTTPThreads.files.run { cache.replace(new, of: cached) }
    return response
  }

  private func send(
    _ request: URLRequest, in context: OperationContext
  ) async throws -> HTTPDataResponse {
    var request = request
    let body = try HTTPRequestBody(takenFrom: &request, of: summary)
    return try await session.data(
      of: request, body: body, summary: summary, options: options,
      received: TransferProgress(context), in: context)
  }
}

extension HTTPDataOperation: CustomReflectable {
  /// The name, because the request may have secrets.
  public var customMirror: Mirror { Mirror(naming: self) }
}
