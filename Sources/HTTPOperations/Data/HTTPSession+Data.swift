internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPSession {
  /// Sends a request and returns the response with its body.
  ///
  /// - Parameters:
  ///   - acceptsRedirects: Whether a redirect that is not followed is a result, and not an error.
  ///   - sent: Reports the bytes that have been sent.
  ///   - received: Reports the bytes that have been received.
  ///   - context: The context of the run, which receives the attributes of the request.
  func data(
    of request: URLRequest, body: HTTPRequestBody, summary: HTTPRequestSummary,
    options: HTTPRequestOptions, acceptsRedirects: Bool = true, sent: TransferProgress? = nil,
    received: TransferProgress? = nil, in context: OperationContext
  ) async throws -> HTTPDataResponse {
    try await perform(
      request, body: body, summary: summary, options: options, sent: sent, in: context
    ) {
      head, reader in
      if !acceptsRedirects, head.status >= 300 {
        let body = await reader.start(limit: options.errorBodyLimit)
        throw HTTPStatusError(request: summary, head: head, body: body)
      }
      let length = head.headers.contentLength
      // A response to HEAD has the length of a body that is not sent.
      if let length, length > options.bodyLimit, summary.method != "HEAD" {
        throw HTTPBodyLimitError(request: summary, limit: options.bodyLimit, announced: length)
      }
      var body = Data()
      while let bytes = try await reader.next() {
        if body.count + bytes.count > options.bodyLimit {
          throw HTTPBodyLimitError(request: summary, limit: options.bodyLimit, announced: nil)
        }
        body.append(contentsOf: bytes)
        received?.report(body.count, of: length)
      }
      return HTTPDataResponse(head: head, body: body, request: reader.request)
    }
  }
}
