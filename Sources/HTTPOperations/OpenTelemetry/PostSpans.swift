internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends one request with spans, and checks the response.
struct PostSpans: ComposableOperation {
  let request: URLRequest
  let url: URL
  let session: HTTPSession

  /// The response to a request of which a part was rejected.
  private struct Answer: Decodable {
    struct PartialSuccess: Decodable {
      /// A 64-bit integer, which JSON represents as a string; some collectors send a number.
      let rejectedSpans: Int
      let errorMessage: String

      private enum Key: String, CodingKey { case rejectedSpans, errorMessage }

      init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let text = try? values.decode(String.self, forKey: .rejectedSpans)
        rejectedSpans =
          try text.flatMap { Int($0) }
          ?? values.decodeIfPresent(Int.self, forKey: .rejectedSpans) ?? 0
        errorMessage = try values.decodeIfPresent(String.self, forKey: .errorMessage) ?? ""
      }
    }
    let partialSuccess: PartialSuccess?
  }

  func perform(in context: OperationContext) async throws {
    let body = try await answer(in: context)
    let answer = try? JSONDecoder().decode(Answer.self, from: body)
    if let refused = answer?.partialSuccess, refused.rejectedSpans > 0 {
      throw OpenTelemetryExportError(
        url: url,
        reason: .rejected(spanCount: refused.rejectedSpans, message: refused.errorMessage))
    }
  }

  private func answer(in context: OperationContext) async throws -> Data {
    // A redirected POST may arrive as a GET, without its spans.
    let options = HTTPRequestOptions(redirects: .notFollowed)
    let summary = HTTPRequestSummary(request, isRepeatable: true)
    do {
      var request = request
      let body = try HTTPRequestBody(takenFrom: &request, of: summary)
      return try await session.data(
        of: request, body: body, summary: summary, options: options, acceptsRedirects: false,
        in: context
      ).body
    } catch let refusal as HTTPStatusError {
      throw OpenTelemetryExportError(
        url: url,
        reason: .refused(
          status: refusal.status, body: String(decoding: refusal.body.prefix(500), as: UTF8.self)),
        retryDelay: refusal.retryDelay)
    } catch let error as any HTTPRequestError {
      throw OpenTelemetryExportError(url: url, reason: .unreachable(error))
    }
  }
}
