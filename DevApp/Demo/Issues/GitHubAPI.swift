import CommandLineOperations
import Foundation
import HTTPOperations

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server with GitHub's API, and the token for it.
struct GitHubAPI: Sendable {
  private let base: URL
  private let token: String?

  /// - Parameters:
  ///   - address: The URL of the server.
  ///   - token: The access token; nil for anonymous requests.
  init(_ address: String, token: String?) throws(UsageError) {
    guard let url = URL(string: address), let host = url.host, !host.isEmpty,
      ["http", "https"].contains(url.scheme), url.query == nil, url.fragment == nil
    else {
      throw UsageError("issues: invalid server \(address); expected an http or https URL")
    }
    if token != nil, url.scheme == "http", !["127.0.0.1", "::1", "localhost"].contains(host) {
      throw UsageError(
        "issues: the token in GITHUB_TOKEN would be sent to \(host) unencrypted; "
          + "expected an https URL, or no token")
    }
    base = url
    self.token = token
  }

  /// Returns whether a text can be the name of a user or a repository.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text != "." && text != ".."
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || [0x2d, 0x2e, 0x5f].contains(byte)
      }
  }

  /// Returns the URL of the first page of a list.
  func list(_ path: [String], _ query: String) -> URL {
    let place = path.reduce(base) { $0.appendingPathComponent($1) }
    var parts = URLComponents(url: place, resolvingAgainstBaseURL: true)
    parts?.query = query + "&per_page=100"
    return parts?.url ?? place
  }

  func request(for url: URL) -> URLRequest {
    var request = URLRequest(url: url)
    request.setValue("application/vnd.github+json", forHTTPHeaderField: "Accept")
    request.setValue("2022-11-28", forHTTPHeaderField: "X-GitHub-Api-Version")
    request.setValue("CompositeOperations-DevApp", forHTTPHeaderField: "User-Agent")
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    return request
  }

  /// Returns the URL of the next page, from the header `Link` (RFC 8288); nil after the last page.
  ///
  /// - Throws: ``GitHubProblem`` if the page is on another server, which must not receive the
  ///   token.
  func page(after response: HTTPDataResponse) throws(GitHubProblem) -> URL? {
    let links = PageLink.all(in: response.headers["Link"] ?? "")
    guard let text = links.first(where: { $0.relations.contains("next") })?.address else {
      return nil
    }
    guard let url = URL(string: text, relativeTo: response.url)?.absoluteURL,
      Origin(url) == Origin(base)
    else {
      throw GitHubProblem("the link to the next page points to another server: \(text.printable)")
    }
    return url
  }
}

/// The scheme, host and port, which identify a server.
private struct Origin: Equatable {
  private let scheme: String?
  private let host: String?
  private let port: Int

  init(_ url: URL) {
    scheme = url.scheme?.lowercased()
    host = url.host?.lowercased()
    port = url.port ?? (scheme == "https" ? 443 : 80)
  }
}
