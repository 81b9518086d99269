public import Foundation

/// An HTTP response with its body.
public struct HTTPDataResponse: Sendable, Hashable {
  /// The head of the response.
  public let head: HTTPResponseHead
  /// The body of the response.
  public let body: Data
  /// The request, for errors of decoding.
  let request: HTTPRequestSummary

  /// The URL of the response, after redirects.
  public var url: URL { head.url }
  /// The status code of the response.
  public var status: Int { head.status }
  /// The headers of the response.
  public var headers: HTTPHeaders { head.headers }

  /// - Parameter request: The request before redirects.
  init(head: HTTPResponseHead, body: Data, request: HTTPRequestSummary) {
    self.head = head
    self.body = body
    let isElsewhere = head.url.withoutSecrets != request.address
    self.request = isElsewhere ? request.sentOn(to: head.url) : request
  }
}
