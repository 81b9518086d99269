public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What a server says of a response before its body.
public struct HTTPResponseHead: Sendable, Hashable {
  /// Where the response came from: that of the request, or where redirects led.
  public let url: URL
  public let status: Int
  public let headers: HTTPHeaders
}

extension HTTPResponseHead {
  init?(_ response: URLResponse?, to url: URL) {
    guard let response = response as? HTTPURLResponse else { return nil }
    self.init(
      url: response.url ?? url, status: response.statusCode, headers: HTTPHeaders(response))
  }
}
