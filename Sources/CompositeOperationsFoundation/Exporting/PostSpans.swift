internal import CompositeOperations
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Posts one request with spans, and looks at the answer.
struct PostSpans: ComposableOperation {
  let request: URLRequest
  let url: URL
  let session: URLSession

  /// The answer to a request of which a part was refused.
  private struct Answer: Decodable {
    struct PartialSuccess: Decodable {
      /// An integer of 64 bits, which JSON has as a string; some write a number.
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
    let (body, response) = try await answer()
    guard let response = response as? HTTPURLResponse else { return }
    guard (200..<300).contains(response.statusCode) else {
      throw OpenTelemetryExportError(
        url: url,
        reason: .refused(
          status: response.statusCode, body: String(decoding: body.prefix(500), as: UTF8.self)),
        retryDelay: RetryAfter.delay(in: HTTPHeaders(response)).map { min($0, RetryAfter.longest) })
    }
    let answer = try? JSONDecoder().decode(Answer.self, from: body)
    if let refused = answer?.partialSuccess, refused.rejectedSpans > 0 {
      throw OpenTelemetryExportError(
        url: url,
        reason: .rejected(spanCount: refused.rejectedSpans, message: refused.errorMessage))
    }
  }

  private func answer() async throws -> (Data, URLResponse) {
    do {
      return try await session.data(for: request)
    } catch {
      try Task.checkCancellation()
      throw OpenTelemetryExportError(url: url, reason: .unreachable(error))
    }
  }
}
