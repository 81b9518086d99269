public import Foundation

/// A response with its body.
public struct HTTPDataResponse: Sendable, Hashable {
  public let head: HTTPResponseHead
  public let body: Data
  /// The request that it answers, for errors of those who read it.
  let request: HTTPRequestSummary

  /// Where the response came from: that of the request, or where redirects led.
  public var url: URL { head.url }
  public var status: Int { head.status }
  public var headers: HTTPHeaders { head.headers }

  /// - Parameter request: What was asked for at first.
  init(head: HTTPResponseHead, body: Data, request: HTTPRequestSummary) {
    self.head = head
    self.body = body
    let isElsewhere = head.url.withoutSecrets != request.address
    self.request = isElsewhere ? request.sentOn(to: head.url) : request
  }
}
