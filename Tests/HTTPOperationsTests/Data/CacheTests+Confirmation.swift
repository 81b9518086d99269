import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

extension CacheTests {
  @Test func `N22: a 304 is never taken for another response`() async throws {
    let folder = try Self.folder()
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

  @Test(arguments: [
    [], ["Last-Modified: Fri, 20 Nov 2026 10:00:00 GMT"], [tag], [tag, "Last-Modified: \(date)"],
    ["ETag: *", "Last-Modified: \(date)"],
  ])
  func `N22: without an ETag, only a 304 with the same Last-Modified confirms a response`(
    headers: [String]
  ) async throws {
    let folder = try Self.folder()
    // An earlier version of the file is restored after the first request.
    let server = try LoopbackServer { request, connection in
      if request["If-Modified-Since"] != nil {
        return connection.send(.init(304, headers: headers))
      }
      let isFirst = request.number == 0
      connection.send(.init(isFirst ? "new" : "old", headers: Self.modified))
    }
    #expect(try await Self.text(Self.get(server.url(), folder)) == "new")
    let second = try await Self.get(server.url(), folder)
    #expect(Self.text(second) == "old" && !second.isNotModified)
    #expect(Self.conditions(server) == ["", Self.date, ""])
  }

  @Test func `N22: without an ETag, a response is used only for the same headers`() async throws {
    let folder = try Self.folder()
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-Modified-Since"] != nil
      connection.send(
        isKnown ? .init(304, headers: Self.modified) : .init("body", headers: Self.modified))
    }
    let requests: [(headers: [String: String], isKept: Bool)] = [
      ([:], false), ([:], true), (["X-Api-Key": "1"], false), (["x-api-key": "1"], true),
      (["X-Api-Key": "2"], false), (["X-Other-Key": "2"], false), ([:], false), ([:], true),
    ]
    for (headers, isKept) in requests {
      let response = try await Self.get(server.url(), folder, headers: headers)
      #expect(response.isNotModified == isKept, "\(headers)")
    }
  }

  @Test func `N22: a response is used only for the same server`() async throws {
    let folder = try Self.folder()
    // A folder with a short path, whatever the folder for temporary files is.
    let sockets = try TemporaryFolder(in: URL(fileURLWithPath: "/tmp"))
    let servers = try ["one", "two"].map { body in
      try LoopbackServer(atPath: sockets[body].path) { request, connection in
        let isKnown = request["If-None-Match"] != nil
        connection.send(isKnown ? .init(304) : .init(body, headers: [Self.tag]))
      }
    }
    let url = try #require(URL(string: "http://containers.invalid/a"))
    for isKept in [false, true] {
      for body in ["one", "two"] {
        var configuration = HTTPConfiguration()
        configuration.unixSocket = sockets[body].path
        let session = HTTPSession(configuration)
        let response = try await Self.get(url, folder, session: session)
        #expect(Self.text(response) == body && response.isNotModified == isKept)
        for host in ["a.invalid", "b.invalid"] {
          let response = try await Self.get(
            url, folder, headers: ["Host": host], session: session)
          #expect(Self.text(response) == body && response.isNotModified == isKept)
        }
      }
    }
    #expect(servers.allSatisfy { $0.requests.count == 6 })
    #expect(Set(servers[0].requests.compactMap { $0["Host"] }).count == 3)
  }

  @Test func `N22: a 304 with no-store removes the kept response, which is the result`()
    async throws
  {
    let folder = try Self.folder()
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      connection.send(
        isKnown
          ? .init(304, headers: ["Cache-Control: private, No-Store"])
          : .init("body", headers: [Self.tag]))
    }
    _ = try await Self.get(server.url(), folder)
    let response = try await Self.get(server.url(), folder)
    #expect(response.isNotModified && Self.text(response) == "body")
    #expect(try folder.names() == [])
    #expect(try await !Self.get(server.url(), folder).isNotModified)
  }
}
