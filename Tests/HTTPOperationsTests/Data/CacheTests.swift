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
  private static let tag = #"ETag: "1""#
  private static let date = "Sat, 21 Nov 2026 10:00:00 GMT"
  private static let modified = ["Last-Modified: \(date)", "Date: Sat, 21 Nov 2026 10:00:01 GMT"]

  private static func get(
    _ url: URL, _ folder: TemporaryFolder, headers: [String: String] = [:],
    session: HTTPSession = .shared, options: HTTPRequestOptions = HTTPRequestOptions()
  ) async throws -> HTTPDataResponse {
    var request = URLRequest(url: url)
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let cache = HTTPCache(in: folder.url)
    return try await HTTPDataOperation(request, options: options, session: session, cache: cache)
      .run().get()
  }

  private static func text(_ response: HTTPDataResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
  }

  /// The conditions of the requests that a server has received; an empty text for none.
  private static func conditions(_ server: LoopbackServer) -> [String] {
    server.requests.map { $0["If-None-Match"] ?? $0["If-Modified-Since"] ?? "" }
  }

  @Test(arguments: [
    ([tag], #""1""#), ([#"ETag: W/"1""#], #"W/"1""#), (modified, date), ([tag] + modified, #""1""#),
  ])
  func `N22: a body that is still current is not sent again, and the result has a mark`(
    headers: [String], condition: String
  ) async throws {
    let folder = try TemporaryFolder()
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
  ])
  func `N22: a response that must not be kept, or could not be confirmed, is not kept`(
    unkept: Unkept
  ) async throws {
    let folder = try TemporaryFolder()
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
    let folder = try TemporaryFolder()
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

  @Test(arguments: [HTTPSession(interceptors: [Token()]), sessionWithCookies])
  func `N22: a session with interceptors or cookies needs an ETag`(session: HTTPSession)
    async throws
  {
    let folder = try TemporaryFolder()
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

  @Test func `N22: a damaged file is not used`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      connection.send(isKnown ? .init(304) : .init("the body", headers: [Self.tag]))
    }
    _ = try await Self.get(server.url("/other"), folder)
    let other = try Data(contentsOf: folder[try #require(try folder.names().first)])
    _ = try await Self.get(server.url(), folder)
    let name = try #require(
      try folder.names().first { try Data(contentsOf: folder[$0]) != other })
    let whole = try Data(contentsOf: folder[name])
    var damaged = [Data(), other, whole + [0], whole.prefix(64), whole.prefix(65)]
    for index in stride(from: 0, to: whole.count, by: 7) {
      var bytes = whole
      bytes[index] ^= 1
      damaged += [bytes, whole.prefix(index)]
    }
    for bytes in damaged {
      try bytes.write(to: folder[name])
      try #require(unsafe chmod(folder[name].path, 0o600) == 0)
      let response = try await Self.get(server.url(), folder)
      #expect(!response.isNotModified && Self.text(response) == "the body")
      // It is replaced.
      #expect(try await Self.get(server.url(), folder).isNotModified)
    }
  }

  @Test func `N22: files are private, and those that others can have written are not used`()
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      connection.send(isKnown ? .init(304) : .init("body", headers: [Self.tag]))
    }
    let cacheFolder = folder["cache"]
    func get() async throws -> HTTPDataResponse {
      var request = URLRequest(url: server.url("/a?key=secret"))
      request.setValue("Basic secret", forHTTPHeaderField: "Authorization")
      let cache = HTTPCache(in: cacheFolder)
      return try await HTTPDataOperation(request, cache: cache).run().get()
    }
    _ = try await get()
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: cacheFolder.path).first)
    let file = cacheFolder.appendingPathComponent(name)
    #expect(status(of: cacheFolder).st_mode & 0o777 == 0o700)
    #expect(status(of: file).st_mode & 0o777 == 0o600)
    #expect(!name.contains("secret"))
    #expect(try !String(contentsOf: file, encoding: .utf8).contains("secret"))
    #expect(try await get().isNotModified)
    try #require(unsafe chmod(file.path, 0o622) == 0)
    #expect(try await !get().isNotModified)
    #expect(try await get().isNotModified)
    // A link is replaced, and its target stays.
    let target = folder["target"]
    try FileManager.default.moveItem(at: file, to: target)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
    let bytes = try Data(contentsOf: target)
    #expect(try await !get().isNotModified)
    #expect(try Data(contentsOf: target) == bytes)
    #expect(try await get().isNotModified)
  }

  @Test func `N22: a 304 is never taken for another response`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      switch (request.number, request.path) {
      case (0, _): connection.send(.init("old", headers: [Self.tag]))
      // About another version, and about another resource.
      case (1, _): connection.send(.init(304, headers: [#"ETag: "2""#]))
      case (3, _): connection.send(.init(302, headers: ["Location: /elsewhere"], ""))
      case (_, "/elsewhere"): connection.send(isKnown ? .init(304) : .init("elsewhere"))
      case (5, _): connection.send(.init(302, headers: ["Location: /elsewhere"], ""))
      default: connection.send(.init("new", headers: [Self.tag]))
      }
    }
    #expect(try await Self.text(Self.get(server.url(), folder)) == "old")
    #expect(try await Self.text(Self.get(server.url(), folder)) == "new")
    let redirected = try await Self.get(server.url(), folder)
    #expect(Self.text(redirected) == "elsewhere" && !redirected.isNotModified)
    let tag = #""1""#
    #expect(Self.conditions(server) == ["", tag, "", tag, tag, "", ""])
  }

  @Test func `N22: a file that is removed before the 304 is still the result`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { request, connection in
      guard request["If-None-Match"] != nil else {
        return connection.send(.init("body", headers: [Self.tag]))
      }
      for name in (try? folder.names()) ?? [] {
        try? FileManager.default.removeItem(at: folder[name])
      }
      connection.send(.init(304))
    }
    _ = try await Self.get(server.url(), folder)
    let response = try await Self.get(server.url(), folder)
    #expect(response.isNotModified && Self.text(response) == "body")
    #expect(try await !Self.get(server.url(), folder).isNotModified)
  }

  @Test func `N22: the least recently used responses are removed, and no other files`()
    async throws
  {
    let folder = try TemporaryFolder()
    try folder.write(String(repeating: "x", count: 10_000), to: "other")
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      let body = String(repeating: "x", count: request.path == "/large" ? 9_000 : 1_000)
      connection.send(isKnown ? .init(304) : .init(body, headers: [Self.tag]))
    }
    let cache = HTTPCache(in: folder.url, byteLimit: 5_000)
    func isKept(_ path: String) async throws -> Bool {
      try await HTTPDataOperation(server.url(path), cache: cache).run().get().isNotModified
    }
    var names: [String] = []
    for number in 0..<3 {
      #expect(try await !isKept("/\(number)"))
      let new = try #require(try folder.names().first { $0 != "other" && !names.contains($0) })
      names.append(new)
      // As if that had been long ago.
      let date = Date(timeIntervalSince1970: 1_000_000 + Double(number))
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: folder[new].path)
    }
    // Half of a file whose process has ended.
    let half = ".\(names[0]).half"
    try folder.write("half", to: half)
    let date = Date(timeIntervalSince1970: 1)
    try FileManager.default.setAttributes(
      [.modificationDate: date], ofItemAtPath: folder[half].path)
    #expect(try await isKept("/0"))
    #expect(try await !isKept("/3"))
    #expect(try folder.names().count == 4)
    #expect(try folder.names().contains("other"))
    #expect(try !folder.names().contains(names[1]))
    #expect(try !folder.names().contains(half))
    // A response above the limit is not kept, and removes no other.
    #expect(try await !isKept("/large"))
    #expect(try await !isKept("/large"))
    for path in ["/0", "/2", "/3"] { #expect(try await isKept(path), "\(path)") }
  }

  @Test func `N22: several runs use a folder at once, and each body belongs to its ETag`()
    async throws
  {
    let folder = try TemporaryFolder()
    @Sendable func body(_ version: Int) -> String {
      String(repeating: "\(version) ", count: 20_000)
    }
    let server = try LoopbackServer { request, connection in
      let version = request.number / 7
      let tag = "\"\(version)\""
      if request["If-None-Match"] == tag {
        return connection.send(.init(304, headers: ["ETag: \(tag)"]))
      }
      connection.send(.init(body(version), headers: ["ETag: \(tag)"]))
    }
    // Separate values, as those of separate processes.
    let gets = (0..<60).map { _ in
      HTTPDataOperation(server.url(), cache: HTTPCache(in: folder.url, byteLimit: 200_000))
    }
    for response in try await ParallelOperation(gets, width: .limited(to: 6)).run().get() {
      let tag = try #require(response.headers["ETag"])
      let version = try #require(Int(tag.dropFirst().dropLast()))
      #expect(Self.text(response) == body(version))
    }
    #expect(try folder.names().count <= 1)
  }

  @Test func `N22: a folder that cannot be used is no error`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init("body", headers: [Self.tag]))
    try folder.write("file", to: "file")
    for path in ["file", "missing/missing"] {
      let cache = HTTPCache(in: folder[path])
      for _ in 0..<2 {
        let response = try await HTTPDataOperation(server.url(), cache: cache).run().get()
        #expect(Self.text(response) == "body" && !response.isNotModified)
      }
    }
    #expect(try folder.names() == ["file"])
    #expect(Self.conditions(server) == ["", "", "", ""])
  }

  @Test func `a kept body above the limit of the options is not used`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init("body", headers: [Self.tag]))
    _ = try await Self.get(server.url(), folder)
    await #expect(throws: HTTPBodyLimitError.self) {
      _ = try await Self.get(server.url(), folder, options: .init(bodyLimit: 3))
    }
    #expect(Self.conditions(server) == ["", ""])
  }

  @Test func `only a GET uses the cache`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init("body", headers: [Self.tag]))
    for method in ["POST", "HEAD", "OPTIONS"] {
      var request = URLRequest(url: server.url())
      request.httpMethod = method
      _ = await HTTPDataOperation(request, cache: HTTPCache(in: folder.url)).run()
    }
    #expect(try folder.names() == [])
  }
}
