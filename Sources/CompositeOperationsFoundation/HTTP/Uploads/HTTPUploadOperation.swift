public import CompositeOperations
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Sends bytes or a file over HTTP and ends in the response.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let notes = HTTPUploadOperation(url, from: .file(URL(fileURLWithPath: path))).retryingHTTP()
/// let issue = HTTPUploadOperation(url, method: "POST", from: .json(["title": "It does not work"]))
/// ```
///
/// How much has been sent is told as progress, in bytes; after a redirect or in another attempt it begins
/// anew. A cancellation ends the request at once.
///
/// Its errors, all of them an ``HTTPRequestError`` but those of an encoder:
///
/// - ``HTTPFileError``: the file cannot be read.
/// - ``HTTPStatusError``: the server says no.
/// - ``HTTPTransferError``: there was no answer, or the request is a GET, which has no body.
/// - ``HTTPBodyLimitError``: the answer is too long.
/// - ``HTTPRedirectError``: the server sends the request round in circles.
public struct HTTPUploadOperation: ComposableOperation {
  private let request: URLRequest
  private let source: HTTPUploadSource
  private let options: HTTPRequestOptions
  private let session: HTTPSession
  private let summary: HTTPRequestSummary

  /// - Parameters:
  ///   - request: Where to send to and by which method. Its own body counts for nothing; without a
  ///     `Content-Type` it says that of the source.
  ///   - source: What is sent.
  ///   - options: How it is sent, where that is not as usual.
  ///   - session: What sends it.
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

  /// Sends to an address.
  ///
  /// - Parameters:
  ///   - url: The address.
  ///   - method: By which method; a PUT may be repeated and a POST may not.
  ///   - source: What is sent.
  ///   - options: How it is sent, where that is not as usual.
  ///   - session: What sends it.
  public init(
    _ url: URL, method: String = "PUT", from source: HTTPUploadSource,
    options: HTTPRequestOptions = HTTPRequestOptions(), session: HTTPSession = .shared
  ) {
    var request = URLRequest(url: url)
    request.httpMethod = method
    self.init(request, from: source, options: options, session: session)
  }

  public var operationName: String { "upload \(summary)" }

  public func perform(in context: OperationContext) async throws -> HTTPDataResponse {
    if ["GET", "HEAD"].contains(summary.method) {
      throw HTTPTransferError.bodyOfNoUse(in: summary)
    }
    let body = try await body()
    var request = request
    request.httpBody = nil
    if request.value(forHTTPHeaderField: "Content-Type") == nil {
      request.setValue(source.contentType, forHTTPHeaderField: "Content-Type")
    }
    let sink = MemorySink(limit: options.bodyLimit, request: summary, progress: nil)
    let head = try await session.perform(
      request, body: body, summary: summary, options: options, into: sink,
      sent: TransferProgress(context, total: body.byteCount))
    return HTTPDataResponse(head: head, body: sink.body, request: summary)
  }

  private func body() async throws -> HTTPRequestBody {
    switch source.kind {
    case .data(let data): return .data(data)
    case .encoded(let encode): return .data(try encode())
    case .file(let url):
      do {
        let size = try await HTTPThreads.files.run { try ReadableFile.size(of: url) }
        return .file(url, byteCount: size)
      } catch let error as FileError {
        throw HTTPFileError(error, of: summary)
      }
    }
  }
}
