public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The status and the headers of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The URL of the response, after redirects.
  public let url: URL
  /// The status code.
  public let status: Int
  /// The headers.
  public let headers: HTTPHeaders
}

extension HTTPResponseHead {
  init?(_ response: URLResponse?, to url: URL) {
    guard let response = response as? HTTPURLResponse else { return nil }
    self.init(
      url: response.url ?? url, status: response.statusCode, headers: HTTPHeaders(response))
  }
}
