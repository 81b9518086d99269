import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension CacheTests {
  @Test func `N22: a damaged file is not used`() async throws {
    let folder = try Self.folder()
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
    let folder = try Self.folder()
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
    // Others could read the names, or replace files.
    for mode in [0o740, 0o720, 0o710, 0o704, 0o702, 0o701] as [mode_t] {
      try #require(unsafe chmod(cacheFolder.path, mode) == 0)
      let error = await #expect(throws: HTTPFileError.self) { try await get() }
      let text = "\(String(mode, radix: 8)): \(error.map { "\($0)" } ?? "")"
      #expect(text.contains("\(cacheFolder.path) cannot be used as a cache"), "\(text)")
      #expect(text.contains("Run `chmod 700` on it"), "\(text)")
      #expect(error?.isRetryable == false)
    }
    try #require(unsafe chmod(cacheFolder.path, 0o700) == 0)
    if geteuid() == 0 {
      try #require(unsafe chown(cacheFolder.path, 1, 1) == 0)
      let error = await #expect(throws: HTTPFileError.self) { try await get() }
      #expect(error.map { "\($0)" }?.contains("belongs to another user") == true)
      try #require(unsafe chown(cacheFolder.path, 0, 0) == 0)
    }
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

  @Test func `N22: credentials have no effect on names, and only salted hashes of them are kept`()
    async throws
  {
    let folders = try [Self.folder(), Self.folder()]
    let server = try LoopbackServer { request, connection in
      let isKnown = request["If-None-Match"] != nil
      connection.send(isKnown ? .init(304) : .init("body", headers: [Self.tag]))
    }
    var parts = try #require(URLComponents(url: server.url(), resolvingAgainstBaseURL: true))
    parts.user = "user"
    var names: Set<[String]> = []
    for password in ["secret", "other"] {
      parts.password = password
      let url = try #require(parts.url)
      let all = [
        (server.url(), ["Authorization": password]), (server.url(), ["Cookie": password]),
        (url, [:]),
      ]
      for (url, headers) in all {
        var hashes: Set<String> = []
        for folder in folders {
          #expect(try await !Self.get(url, folder, headers: headers).isNotModified)
          #expect(try await Self.get(url, folder, headers: headers).isNotModified)
          names.insert(try folder.names())
          let name = try #require(try folder.names().first)
          let lines = try Data(contentsOf: folder[name]).split(separator: 0x0A, maxSplits: 2)
          let head = try JSONSerialization.jsonObject(with: try #require(lines.dropFirst().first))
          hashes.insert(try #require((head as? [String: Any])?["variant"] as? String))
        }
        #expect(hashes.count == 2)
      }
    }
    #expect(names.count == 1 && names.first?.count == 1)
  }

  @Test func `N22: a file that is removed before the 304 is still the result`() async throws {
    let folder = try Self.folder()
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
    let folder = try Self.folder()
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
    let folder = try Self.folder()
    @Sendable func body(_ version: Int) -> String {
      String(repeating: "\(version) ", count: 20_000)
    }
    let server = try LoopbackServer { request, connection in
      // The first runs end before so many requests, so a later run has the tag of their version.
      let version = request.number / 20
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
    let responses = try await ParallelOperation(gets, width: .limited(to: 6)).run().get()
    #expect(responses.contains { $0.isNotModified })
    for response in responses {
      let tag = try #require(response.headers["ETag"])
      let version = try #require(Int(tag.dropFirst().dropLast()))
      #expect(Self.text(response) == body(version))
    }
    #expect(try folder.names().count <= 1)
  }

  @Test func `N22: a folder that cannot be read or written is no error`() async throws {
    let folder = try Self.folder()
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
}
