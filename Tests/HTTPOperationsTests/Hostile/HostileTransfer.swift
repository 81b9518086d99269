import CompositeOperations
import Foundation
import HTTPOperations
import TestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An operation that receives a hostile response.
enum HostileTransfer: Sendable {
  case data, head, post, upload, download

  /// The operations that deliver the same body or the same error for the same response.
  static let bodies: [HostileTransfer] = [.data, .upload, .download]

  func end(
    of url: URL, bodyLimit: Int = 64 << 20, in folder: TemporaryFolder, session: HTTPSession
  ) async -> HostileEnd {
    let options = HTTPRequestOptions(bodyLimit: bodyLimit)
    var request = URLRequest(url: url)
    switch self {
    case .data: break
    case .head: request.httpMethod = "HEAD"
    case .post:
      request.httpMethod = "POST"
      request.httpBody = Data("order".utf8)
    case .upload:
      request.httpMethod = "PUT"
      return Self.end(
        await HTTPUploadOperation(
          request, from: .data(Data("upload".utf8)), options: options, session: session
        ).run())
    case .download:
      let file = folder[UUID().uuidString]
      let outcome = await HTTPDownloadOperation(
        request, to: file, options: options, session: session
      ).run()
      let body = try? Data(contentsOf: file)
      guard let download = outcome.result else {
        // Nothing of a failed download is at its destination.
        return body == nil ? HostileEnd(failureOf: outcome) : .unclear("a file after \(outcome)")
      }
      guard let body, body.count == download.byteCount else {
        return .unclear("no file after \(outcome)")
      }
      return .body([UInt8](body), status: download.head.status)
    }
    return Self.end(
      await HTTPDataOperation(request, options: options, session: session).run())
  }

  private static func end(_ outcome: Outcome<HTTPDataResponse>) -> HostileEnd {
    guard let response = outcome.result else { return HostileEnd(failureOf: outcome) }
    return .body([UInt8](response.body), status: response.status)
  }
}
