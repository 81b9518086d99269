public import CompositeOperations
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
/// ends the request at once.
///
/// All errors of the operation conform to ``HTTPRequestError``:
///
/// - ``HTTPStatusError``: the server refused the request.
/// - ``HTTPTransferError``: there was no response, or only a part of one.
/// - ``HTTPBodyLimitError``: the response is too large.
/// - ``HTTPRedirectError``: a redirect is invalid, or there are too many.
public struct HTTPDataOperation: ComposableOperation {
  private let request: URLRequest
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary

  /// Creates an operation that sends a request.
  ///
  /// - Parameters:
  ///   - request: The request. It must not have an `httpBodyStream`, and a GET must not have an
  ///     `httpBody`.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  public init(
    _ request: URLRequest, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared
  ) {
    self.request = request
    self.options = options
    self.session = session
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Creates an operation that gets a URL.
  ///
  /// - Parameters:
  ///   - url: The URL to get.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  public init(
    _ url: URL, options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared
  ) {
    self.init(URLRequest(url: url), options: options, session: session)
  }

  /// The method and the URL of the request, without secrets.
  public var operationName: String { "\(summary)" }

  /// Sends the request and returns the response.
  ///
  /// - Throws: An ``HTTPRequestError``, and `CancellationError` if the run is cancelled.
  public func perform(in context: OperationContext) async throws -> HTTPDataResponse {
    var request = request
    let body = try HTTPRequestBody(takenFrom: &request, of: summary)
    return try await session.data(
      of: request, body: body, summary: summary, options: options,
      received: TransferProgress(context))
  }
}

extension HTTPDataOperation: CustomReflectable {
  /// The name, because the request may have secrets.
  public var customMirror: Mirror { Mirror(naming: self) }
}
