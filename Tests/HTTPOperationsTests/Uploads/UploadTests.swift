import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import HTTPOperations
import LoopbackServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct UploadTests {
  @Test(arguments: [0, 1, 700_000])
  func `a file and data are uploaded unchanged, with progress`(count: Int) async throws {
    let folder = try TemporaryFolder()
    let bytes = Data(someBytes(count))
    try bytes.write(to: folder["file"])
    for source in [HTTPUploadSource.file(folder["file"]), .data(bytes)] {
      let server = try LoopbackServer(.init(201, "made"))
      let observer = RecordingObserver()
      let response = try await HTTPUploadOperation(server.url(), from: source)
        .observed(by: observer).run().get()
      #expect(response.status == 201)
      #expect(response.body == Data("made".utf8))
      #expect(server.requests[0].method == "PUT")
      #expect(server.requests[0].body == bytes)
      #expect(server.requests[0]["Content-Length"] == "\(count)")
      #expect(server.requests[0]["Content-Type"] == "application/octet-stream")
      let reported = observer.events.compactMap { event -> Int? in
        if case .progressed(let done, count, "bytes") = event.kind { done } else { nil }
      }
      #expect(reported.last == (count == 0 ? nil : count))
      #expect(reported == reported.sorted())
    }
  }

  @Test func `a value is sent as JSON, with the Content-Type of the request if it has one`()
    async throws
  {
    let server = try LoopbackServer(.init("[]"))
    let url = server.url()
    let post = HTTPUploadOperation(url, method: "POST", from: .json(["title": "It fails"]))
    #expect(try await post.decoding([String].self).run().get() == [])
    var request = URLRequest(url: url)
    request.httpMethod = "PATCH"
    request.setValue("application/merge-patch+json", forHTTPHeaderField: "Content-Type")
    _ = try await HTTPUploadOperation(request, from: .json(["a": 1])).run().get()
    #expect(server.requests.map(\.method) == ["POST", "PATCH"])
    #expect(
      server.requests.map { $0["Content-Type"] }
        == ["application/json", "application/merge-patch+json"])
    #expect(String(decoding: server.requests[0].body, as: UTF8.self) == #"{"title":"It fails"}"#)
  }

  @Test func `a file that cannot be sent is an error that names it and the remedy`() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer(.init())
    let waiters = [
      (folder["none"], "No such file or directory. Check its path."), (folder.url, "Use a file."),
      (URL(fileURLWithPath: "/dev/zero"), "Use a file."),
      (server.url("/a"), "it is not a file URL. Download it first."),
    ]
    for (place, text) in waiters {
      let outcome = await HTTPUploadOperation(server.url(), from: .file(place)).run()
      let error = try #require(outcome.error as? HTTPFileError)
      #expect(error.description.hasSuffix(text), "\(error)")
      #expect(error.description.contains(place.isFileURL ? place.path : place.absoluteString))
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `a body is sent again after a redirect and in another attempt`() async throws {
    let folder = try TemporaryFolder()
    let bytes = Data(someBytes(100_000))
    try bytes.write(to: folder["file"])
    let server = try LoopbackServer(
      .init(307, headers: ["Location: /b"]), .init(503), .init(308, headers: ["Location: /c"]),
      .init(204))
    let upload = HTTPUploadOperation(server.url("/a"), from: .file(folder["file"]))
    #expect(try await upload.retryingHTTP(backoff: .none).run().get().status == 204)
    #expect(server.requests.map(\.path) == ["/a", "/b", "/a", "/c"])
    #expect(server.requests.allSatisfy { $0.body == bytes })
  }

  @Test func `an upload by GET is an error`() async throws {
    let server = try LoopbackServer(.init())
    let upload = HTTPUploadOperation(URLRequest(url: server.url()), from: .data(Data([1])))
    let error = try #require(await upload.run().error as? HTTPTransferError)
    #expect(error.description.contains("set the httpMethod"))
    #expect(server.requests.isEmpty)
  }

  @Test func `a cancellation during an upload closes the connection`() async throws {
    // The server reads only the header, and then nothing until the gate is released.
    let gate = HeldResponse()
    let server = try LoopbackServer(readingBodies: false) { _, connection in
      gate.wait()
      connection.waitForClose()
    }
    let source = HTTPUploadSource.data(Data(count: 32 << 20))
    // Without a short timeout: on a busy machine the cancellation may come late.
    var request = URLRequest(url: server.url(), timeoutInterval: 3_600)
    request.httpMethod = "PUT"
    let run = HTTPUploadOperation(request, from: source).start()
    await server.waitForRequests(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    gate.release()
    await server.waitForCloses(1)
  }
}
