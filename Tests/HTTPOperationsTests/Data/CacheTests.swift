import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Responses that are kept in a folder, and confirmed by the server.
@Suite(.timeLimit(.minutes(10))) struct CacheTests {
  static let tag = #"ETag: "1""#
  static let date = "Sat, 21 Nov 2026 10:00:00 GMT"
  static let modified = ["Last-Modified: \(date)", "Date: Sat, 21 Nov 2026 10:00:01 GMT"]

  /// A folder that only this user can access.
  static func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try #require(unsafe chmod(folder.path, 0o700) == 0)
    return folder
  }

  static func get(
    _ url: URL, _ folder: TemporaryFolder, headers: [String: String] = [:],
    session: HTTPSession = .shared, options: HTTPRequestOptions = HTTPRequestOptions()
  ) async throws -> HTTPDataResponse {
    var request = URLRequest(url: url)
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let cache = HTTPCache(in: folder.url)
    return try await HTTPDataOperation(request, options: options, session: session, cache: cache)
      .run().get()
  }

  static func text(_ response: HTTPDataResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  /// The conditions of the requests that a server has received; an empty text for none.
  static func conditions(_ server: LoopbackServer) -> [String] {
    server.requests.map { $0["If-None-Match"] ?? $0["If-Modified-Since"] ?? "" }
  }

  @Test(arguments: [
    ([tag], #""1""#), ([#"ETag: W/"1""#], #"W/"1""#), (modified, date), ([tag] + modified, #""1""#),
  ])
  func `N22: a body that is still current is not sent again, and the result has a mark`(
    headers: [String], condition: String
  ) async throws {
    let folder = try Self.folder()
    let extra = ["X-Count: 1", "X-Kept: yes", "Set-Cookie: a=secret", "Cache-Control: private"]
    let server = try LoopbackServer(
      .init("one\ntwo", headers: headers + extra), .init(304, headers: headers + ["X-Count: 2"]),
      .init("three", headers: [#"ETag: "2""#]), .init(304))
    let first = try await Self.get(server.url(), folder)
    #expect(Self.text(first) == "one\ntwo" && !first.isNotModified)
    let second = try await Self.get(server.url(), folder)
    #expect(Self.text(second) == "one\ntwo" && second.isNotModified && second.status == 200)
    #expect(second.headers["X-Count"] == "2" && second.headers["X-Kept"] == "yes")
    #expect(second.headers["Set-Cookie"] == nil && second.headers["Content-Length"] == "7")
    #expect(second.url == first.url)
    let third = try await Self.get(server.url(), folder)
    #expect(Self.text(third) == "three" && !third.isNotModified)
    #expect(try await Self.text(Self.get(server.url(), folder)) == "three")
    #expect(Self.conditions(server) == ["", condition, condition, #""2""#])
  }

  /// A response that must not be kept, and the headers of its request.
  struct Unkept: Sendable {
    var status = 200
    var headers = [tag]
    var request: [String: String] = [:]
    var path = "/"
  }

  @Test(arguments: [
    Unkept(headers: [tag, "Cache-Control: max-age=60, No-Store"]),
    Unkept(headers: [tag, "Vary: Accept, *"]), Unkept(headers: []),
    Unkept(headers: ["Last-Modified: \(date)", "Date: \(date)"]),
    Unkept(headers: ["Last-Modified: \(date)"]), Unkept(status: 203), Unkept(path: "/redirected"),
    Unkept(request: ["Cache-Control": "no-store"]), Unkept(request: ["Range": "bytes=0-1"]),
    Unkept(request: ["if-match": "*"]),
    Unkept(headers: ["ETag: *"]), Unkept(headers: [#"ETag: "1", "2""#]),
    Unkept(headers: ["ETag: 1"]),
    Unkept(headers: [tag, tag]), Unkept(headers: [#"ETag: w/"1""#]),
    Unkept(headers: [#"ETag: "1"#]),
    Unkept(headers: [#"ETag: ""#]), Unkept(headers: ["ETag: *"] + modified),
  ])
  func `N22: a response that must not be kept, or could not be confirmed, is not kept`(
    unkept: Unkept
  ) async throws {
    let folder = try Self.folder()
    let server = try LoopbackServer { request, connection in
      if request.path == "/redirected" {
        return connection.send(.init(302, headers: ["Location: /"], ""))
      }
      connection.send(.init(unkept.status, headers: unkept.headers, "body"))
    }
    for _ in 0..<2 {
      let response = try await Self.get(server.url(unkept.path), folder, headers: unkept.request)
      #expect(Self.text(response) == "body")
    }
    #expect(Self.conditions(server).allSatisfy { $0.isEmpty })
    #expect(try folder.names() == [])
  }

  @Test func `N22: a response is used only for the same URL, credentials and varying headers`()
    async throws
  {
    let folder = try Self.folder()
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      let headers = [Self.tag, "Vary: Accept-Language, X-Kind"]
      connection.send(isKnown ? .init(304) : .init("\(request.number)", headers: headers))
    }
    let requests: [(path: String, headers: [String: String], isKept: Bool)] = [
      ("/a?b=1", [:], false), ("/a?b=1", [:], true), ("/a?b=1#part", ["X-Other": "1"], true),
      ("/a?b=2", [:], false), ("/a?b=1", ["Authorization": "Basic 1"], false),
      ("/a?b=1", ["authorization": "Basic 1"], true),
      ("/a?b=1", ["Authorization": "Basic 2"], false), ("/a?b=1", ["Cookie": "a=1"], false),
      ("/a?b=1", ["Accept-Language": "de"], false), ("/a?b=1", ["accept-language": "de"], true),
      ("/a?b=1", ["Accept-Language": "en"], false), ("/a?b=1", ["X-Kind": "en"], false),
    ]
    for (path, headers, isKept) in requests {
      let url = try #require(URL(string: path, relativeTo: server.url())).absoluteURL
      let response = try await Self.get(url, folder, headers: headers)
      #expect(response.isNotModified == isKept, "\(path) \(headers)")
    }
    // The headers of a session count, too.
    var configuration = HTTPConfiguration()
    configuration.headers = ["Accept-Language": "fr"]
    let session = HTTPSession(configuration)
    for isKept in [false, true] {
      let response = try await Self.get(server.url("/a?b=1"), folder, session: session)
      #expect(response.isNotModified == isKept)
    }
  }

  private struct Token: HTTPInterceptor {}

  private static var sessionWithCookies: HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.keepsCookies = true
    return HTTPSession(configuration)
  }

  private static var sessionWithCertificate: HTTPSession {
    var configuration = HTTPConfiguration()
    // It is not read for http.
    configuration.certificates.client = URL(fileURLWithPath: "/missing.pem")
    return HTTPSession(configuration)
  }

  @Test(arguments: [
    HTTPSession(interceptors: [Token()]), sessionWithCookies, sessionWithCertificate,
  ])
  func `N22: a session with interceptors, cookies or a client certificate needs an ETag`(
    session: HTTPSession
  ) async throws {
    let folder = try Self.folder()
    let dated = try LoopbackServer(.init("body", headers: Self.modified))
    _ = try await Self.get(dated.url(), folder, session: session)
    #expect(try folder.names() == [])
    _ = try await Self.get(dated.url(), folder)
    _ = try await Self.get(dated.url(), folder, session: session)
    #expect(Self.conditions(dated) == ["", "", ""])
    let tagged = try LoopbackServer(.init("body", headers: [Self.tag]), .init(304))
    _ = try await Self.get(tagged.url(), folder, session: session)
    #expect(try await Self.get(tagged.url(), folder, session: session).isNotModified)
  }

  @Test func `a kept body above the limit of the options is not used`() async throws {
    let folder = try Self.folder()
    let server = try LoopbackServer(.init("body", headers: [Self.tag]))
    _ = try await Self.get(server.url(), folder)
    await #expect(throws: HTTPBodyLimitError.self) {
      _ = try await Self.get(server.url(), folder, options: .init(bodyLimit: 3))
    }
    #expect(Self.conditions(server) == ["", ""])
  }

  @Test func `only a GET uses the cache`() async throws {
    let folder = try Self.folder()
    let server = try LoopbackServer(.init("body", headers: [Self.tag]))
    for method in ["POST", "HEAD", "OPTIONS"] {
      var request = URLRequest(url: server.url())
      request.httpMethod = method
      _ = await HTTPDataOperation(request, cache: HTTPCache(in: folder.url)).run()
    }
    #expect(try folder.names() == [])
  }
}
