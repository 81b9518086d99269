public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Makes a request over HTTP and ends in the response with its whole body.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let repositories = HTTPDataOperation(url)
///   .decoding([String].self)
///   .retryingHTTP(attempts: 3)
/// ```
///
/// Every status from 400 is an error. The body is kept in memory, and ``HTTPRequestOptions/bodyLimit`` says how
/// much of it; how much has come is told as progress, in bytes. A cancellation ends the request at once.
///
/// Its errors, all of them an ``HTTPRequestError``:
///
/// - ``HTTPStatusError``: the server says no.
/// - ``HTTPTransferError``: there was no answer, or not all of it.
/// - ``HTTPBodyLimitError``: the answer is too long.
/// - ``HTTPRedirectError``: the server sends the request round in circles.
public struct HTTPDataOperation: ComposableOperation {
  private let request: URLRequest
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary

  /// - Parameters:
  ///   - request: What to ask for. Its `httpBody` is sent, which a GET must not have; a `httpBodyStream` is an
  ///     error.
  ///   - options: How it is made, where that is not as usual.
  ///   - session: What makes it.
  public init(
    _ request: URLRequest, options: HTTPRequestOptions = HTTPRequestOptions(),
    session: HTTPSession = .shared
  ) {
    self.request = request
    self.options = options
    self.session = session
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Asks for what is at an address.
  ///
  /// - Parameters:
  ///   - url: The address.
  ///   - options: How it is asked, where that is not as usual.
  ///   - session: What asks.
  public init(
    _ url: URL, options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared
  ) {
    self.init(URLRequest(url: url), options: options, session: session)
  }

  public var operationName: String { "\(summary)" }

  public func perform(in context: OperationContext) async throws -> HTTPDataResponse {
    let sink = MemorySink(
      limit: options.bodyLimit, request: summary, progress: TransferProgress(context))
    var request = request
    let body = try HTTPRequestBody(takenFrom: &request, of: summary)
    let head = try await session.perform(
      request, body: body, summary: summary, options: options, into: sink)
    return HTTPDataResponse(head: head, body: sink.body, request: summary)
  }
}
