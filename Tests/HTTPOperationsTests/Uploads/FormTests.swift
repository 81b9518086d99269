import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct FormTests {
  /// Names, and what is sent in quotes.
  private static let names = [
    ("name", "name"), ("", ""), ("a\"b", "a%22b"), ("a\r\nX-Header: b\n", "a%0D%0AX-Header: b%0A"),
    ("ä 猫.txt", "ä 猫.txt"), ("50%; a=b\\", "50%; a=b\\"), ("--form", "--form"),
    ("\"; filename=\"b", "%22; filename=%22b"),
  ]

  @Test func `N15: a form arrives with its texts, data and files, under any names`() async throws {
    let folder = try TemporaryFolder()
    let large = Data(someBytes(700_000))
    try large.write(to: folder["large"])
    try Data().write(to: folder["empty"])
    var (parts, expected) = ([HTTPFormPart](), [FormField]())
    for (name, sent) in Self.names {
      parts += [
        .text(name, "\r\n\(name)"),
        .data(name, Data(name.utf8), fileName: name, contentType: "text/plain"),
        .file(name, folder["large"], fileName: name), .file(name, folder["empty"]),
      ]
      let field = "form-data; name=\"\(sent)\""
      let type = "application/octet-stream"
      expected += [
        FormField(field, nil, Data("\r\n\(name)".utf8)),
        FormField("\(field); filename=\"\(sent)\"", "text/plain", Data(name.utf8)),
        FormField("\(field); filename=\"\(sent)\"", type, large),
        FormField("\(field); filename=\"empty\"", type, Data()),
      ]
    }
    let server = try LoopbackServer(.init())
    var request = URLRequest(url: server.url())
    request.httpMethod = "POST"
    // Without a boundary, the server could not read the form.
    request.setValue("multipart/form-data", forHTTPHeaderField: "Content-Type")
    for parts in [parts, [], [.text("", "")]] {
      _ = try await HTTPUploadOperation(
        request, from: .form(parts), session: .longTimeout
      ).run().get()
    }
    for (received, expected) in zip(
      server.requests, [expected, [], [FormField("form-data; name=\"\"", nil, Data())]])
    {
      #expect(received["Content-Length"] == "\(received.body.count)")
      let fields = try FormField.all(in: received)
      #expect(fields.count == expected.count)
      for (field, expected) in zip(fields, expected) {
        #expect(field.disposition == expected.disposition)
        #expect(field.contentType == expected.contentType)
        #expect(field.content == expected.content, "\(field.disposition)")
      }
    }
  }

  @Test func `N15: a form that is sent again has the same bytes, and two have two boundaries`()
    async throws
  {
    let folder = try TemporaryFolder()
    try Data(someBytes(300_000)).write(to: folder["file"])
    let parts: [HTTPFormPart] = [.text("a", "b"), .file("c", folder["file"]), .text("d", "e")]
    let server = try LoopbackServer(
      .init(307, headers: ["Location: /b"]), .init(503), .init(308, headers: ["Location: /c"]),
      .init(204))
    let upload = HTTPUploadOperation(server.url("/a"), from: .form(parts), session: .longTimeout)
    _ = try await upload.retryingHTTP(backoff: .none).run().get()
    let (bodies, types) = (server.requests.map(\.body), server.requests.map { $0["Content-Type"] })
    #expect(bodies.count == 4 && Set(bodies).count == 1)
    #expect(Set(types).count == 1)
    #expect(try FormField.all(in: server.requests[3]).count == 3)
    _ = try await HTTPUploadOperation(server.url("/a"), from: .form(parts)).run().get()
    #expect(server.requests[4]["Content-Type"] != types[0])
  }

  @Test func `N15: a file of a form that is missing is an error that names it`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init())
    let parts: [HTTPFormPart] = [.text("a", "b"), .file("c", folder["none"])]
    let outcome = await HTTPUploadOperation(server.url(), from: .form(parts)).run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect(error.path == folder["none"].path)
    #expect("\(error)".contains("No such file or directory. Check its path."))
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [(-1, "has become shorter"), (1, "has become larger")])
  func `N15: a file of a form that changes its size while it is sent is an error that names it`(
    change: Int, problem: String
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder["file"].path
    // More than the buffers of the connection hold.
    let size = 64 << 20
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    #expect(unsafe truncate(path, off_t(size)) == 0)
    let server = try LoopbackServer(readingBodies: false) { request, connection in
      _ = unsafe truncate(path, off_t(size + change))
      var count = request.body.count
      let length = request["Content-Length"].flatMap { Int($0) } ?? 0
      while count < length, let bytes = connection.receive() { count += bytes.count }
      connection.send(LoopbackResponse())
    }
    let source = HTTPUploadSource.form([.file("c", folder["file"]), .text("a", "b")])
    let outcome = await HTTPUploadOperation(
      server.url(), from: source, session: .longTimeout
    ).run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect(error.path == path && error.problem == problem)
  }

  @Test(arguments: [0, 1, (256 << 10) - 20])
  func `N15: a file that contains the boundary of its form is an error that names it`(
    offset: Int
  ) async throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder["file"])
    let server = try LoopbackServer { request, connection in
      if request.body.count == request["Content-Length"].flatMap({ Int($0) }) {
        connection.send(LoopbackResponse())
      }
    }
    let source = HTTPUploadSource.form([.file("c", folder["file"])])
    let upload = HTTPUploadOperation(server.url(), from: source, session: .longTimeout)
    _ = try await upload.run().get()
    let boundary = try FormField.boundary(of: server.requests[0])
    try (Data(count: offset) + Data("--\(boundary)".utf8)).write(to: folder["file"])
    let outcome = await upload.run()
    let error = try #require(outcome.error as? HTTPFileError, "\(outcome)")
    #expect(error.path == folder["file"].path)
    #expect("\(error)".contains("it contains the boundary of the form"), "\(error)")
  }

  @Test func `N15: a content type that would add lines to a form is an error`() async throws {
    let server = try LoopbackServer(.init())
    let part = HTTPFormPart.data("c", Data(), fileName: "f", contentType: "a/b\r\nX: 1")
    let outcome = await HTTPUploadOperation(server.url(), from: .form([part])).run()
    let error = try #require(outcome.error as? HTTPTransferError, "\(outcome)")
    #expect("\(error)".contains("the content type of its part \"c\""), "\(error)")
    #expect(server.requests.isEmpty)
  }
}

/// A field of a form, as a strict parser reads it.
private struct FormField {
  struct Malformed: Error { let problem: String }

  let disposition: String
  let contentType: String?
  let content: Data

  init(_ disposition: String, _ contentType: String?, _ content: Data) {
    (self.disposition, self.contentType, self.content) = (disposition, contentType, content)
  }

  static func boundary(of request: LoopbackRequest) throws -> String {
    let type = try #require(request["Content-Type"])
    let prefix = "multipart/form-data; boundary="
    try #require(type.hasPrefix(prefix))
    let boundary = String(type.dropFirst(prefix.count))
    try #require((1...70).contains(boundary.utf8.count))
    return boundary
  }

  /// Reads all fields (RFC 2046, section 5.1).
  static func all(in request: LoopbackRequest) throws -> [FormField] {
    let line = Data("\r\n".utf8)
    let delimiter = Data("\r\n--\(try boundary(of: request))".utf8)
    // The first delimiter has no line break before it.
    var rest = line + request.body
    var fields: [FormField] = []
    func take(_ bytes: Data) throws {
      guard rest.starts(with: bytes) else { throw Malformed(problem: "no \(bytes)") }
      rest = Data(rest.dropFirst(bytes.count))
    }
    func take(upTo bytes: Data) throws -> Data {
      guard let end = rest.range(of: bytes) else { throw Malformed(problem: "no \(bytes)") }
      let taken = Data(rest[..<end.lowerBound])
      rest = Data(rest[end.lowerBound...])
      return taken
    }
    try take(delimiter)
    while rest.starts(with: line) {
      try take(line)
      let head = String(decoding: try take(upTo: line + line), as: UTF8.self)
      try take(line + line)
      var headers = [String: String]()
      for field in head.components(separatedBy: "\r\n") {
        let parts = field.components(separatedBy: ": ")
        headers[parts[0]] = parts.dropFirst().joined(separator: ": ")
      }
      guard let disposition = headers.removeValue(forKey: "Content-Disposition") else {
        throw Malformed(problem: "no Content-Disposition in \(head)")
      }
      let type = headers.removeValue(forKey: "Content-Type")
      if !headers.isEmpty { throw Malformed(problem: "other headers in \(head)") }
      fields.append(FormField(disposition, type, try take(upTo: delimiter)))
      try take(delimiter)
    }
    if rest != Data("--\r\n".utf8) { throw Malformed(problem: "no end") }
    return fields
  }
}
