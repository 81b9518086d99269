public import CompositeOperations
internal import CompositeOperationsFoundation
public import Foundation
internal import SystemSupport

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// An operation that sends data or a file over HTTP and returns the response.
///
/// ```swift
/// import HTTPOperations
///
/// let notes = HTTPUploadOperation(url, from: .file(URL(fileURLWithPath: path))).retryingHTTP()
/// let issue = HTTPUploadOperation(url, method: "POST", from: .json(["title": "It does not work"]))
/// ```
///
/// The run reports its progress in sent bytes, starting again after a redirect and in another
/// attempt. A cancellation ends the request at once.
///
/// All of its errors, except those of an encoder or of an ``HTTPInterceptor`` of the session,
/// conform to ``HTTPRequestError``:
///
/// - ``HTTPFileError``: the file cannot be read, or a file of a form has changed its size.
/// - ``HTTPStatusError``: the server refused the request.
/// - ``HTTPTransferError``: there was no response, or the request is a GET, which has no body.
/// - ``HTTPBodyLimitError``: the response is too large.
/// - ``HTTPRedirectError``: a redirect is invalid, or there are too many.
public struct HTTPUploadOperation: ComposableOperation {
  private let request: URLRequest
  private let source: HTTPUploadSource
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary

  /// Creates an operation that sends a request with a body.
  ///
  /// - Parameters:
  ///   - request: The request. Its own body is ignored. Without a `Content-Type`, it gets the type
  ///     of the source; with a form, in any case.
  ///   - source: The data, file or form to send.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  public init(
    _ request: URLRequest, from source: HTTPUploadSource,
    options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared
  ) {
    self.request = request
    self.source = source
    self.options = options
    self.session = session
    summary = HTTPRequestSummary(request, isRepeatable: options.isRepeatable)
  }

  /// Creates an operation that sends data or a file to a URL.
  ///
  /// - Parameters:
  ///   - url: The URL to send to.
  ///   - method: The HTTP method. A PUT may be repeated; a POST may not.
  ///   - source: The data or file to send.
  ///   - options: The options of the request.
  ///   - session: The session that sends the request.
  public init(
    _ url: URL, method: String = "PUT", from source: HTTPUploadSource,
    options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared
  ) {
    var request = URLRequest(url: url)
    request.httpMethod = method
    self.init(request, from: source, options: options, session: session)
  }

  /// The method and the URL of the request, without secrets.
  public var operationName: String { "upload \(summary)" }

  /// Sends the request and returns the response.
  ///
  /// - Throws: An ``HTTPRequestError``, the error of an encoder or of an interceptor, and
  ///   `CancellationError` if the run is cancelled.
  public func perform(in context: OperationContext) async throws -> HTTPDataResponse {
    if ["GET", "HEAD"].contains(summary.method) {
      throw HTTPTransferError.bodyOfNoUse(in: summary)
    }
    let body = try await body()
    var request = request
    request.httpBody = nil
    if source.requiresContentType || request.value(forHTTPHeaderField: "Content-Type") == nil {
      request.setValue(source.contentType, forHTTPHeaderField: "Content-Type")
    }
    let sent = TransferProgress(context, total: body.byteCount)
    return try await withFileErrors {
      try await session.data(
        of: request, body: body, summary: summary, options: options, sent: sent, in: context)
    }
  }

  private func body() async throws -> HTTPRequestBody {
    switch source.kind {
    case .data(let data): return .data(data)
    case .encoded(let encode): return .data(try encode())
    case .stream(let stream, let byteCount): return .stream(stream, byteCount: byteCount)
    case .file(let url):
      return try await withFileErrors {
        .file(url, byteCount: try await HTTPThreads.files.run { try FileToSend.size(of: url) })
      }
    case .form(let parts, let boundary):
      if let part = parts.first(where: { !$0.isValid }) {
        let problem =
          "the content type of its part \(part.name.debugDescription) has characters that are not "
          + "allowed, such as a line break"
        throw HTTPTransferError(
          HTTPTransportError(.badRequest(problem), wasSent: false), of: summary)
      }
      return try await withFileErrors {
        .form(try await HTTPThreads.files.run { try HTTPFormBody(parts, boundary: boundary) })
      }
    }
  }

  /// Calls a function, and adds the request to its errors.
  private func withFileErrors<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch let error as FileError {
      throw HTTPFileError(error, of: summary)
    }
  }
}

extension HTTPUploadOperation: CustomReflectable {
  /// The name, because the request may have secrets.
  public var customMirror: Mirror { Mirror(naming: self) }
}
