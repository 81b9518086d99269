import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct LibraryDecodingTests {
  private static let hello = Data("hello".utf8)

  private static func response(_ coding: String, _ body: [UInt8]) -> LoopbackResponse {
    .init(headers: ["Content-Encoding: \(coding)"], body: body)
  }

  /// A server whose responses have one body after the other.
  private static func server(
    _ bodies: [[UInt8]], _ coding: LibraryCoding
  ) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      connection.send(response(coding.rawValue, bodies[min(request.number, bodies.count - 1)]))
    }
  }

  @Test(arguments: LibraryCoding.installed)
  func `N8: br and zstd are undone if their libraries are installed`(
    coding: LibraryCoding
  ) async throws {
    let server = try LoopbackServer(
      Self.response(coding.rawValue, coding.hello), Self.response(coding.rawValue, coding.zeros),
      Self.response("\(coding), gzip", compressed(coding.hello)),
      Self.response("\(coding)", []))
    for expected in [Self.hello, Data(count: 1 << 20), Self.hello, Data()] {
      let response = try await HTTPDataOperation(server.url()).run().get()
      // The difference of two large bodies takes long to print.
      let isExpected = response.body == expected
      #expect(isExpected && response.head.undecodedCoding == nil, "\(expected.count) bytes")
    }
    for request in server.requests {
      #expect(request["Accept-Encoding"]?.contains(", \(coding)") == true)
    }
  }

  @Test(arguments: LibraryCoding.installed)
  func `N8: a limit is for the body that br and zstd give`(coding: LibraryCoding) async throws {
    let server = try LoopbackServer(Self.response(coding.rawValue, coding.zeros))
    let options = HTTPRequestOptions(bodyLimit: 1 << 16)
    let error = await HTTPDataOperation(server.url(), options: options).run().error
    #expect(error is HTTPBodyLimitError)
  }

  @Test(arguments: LibraryCoding.installed)
  func `N8: a body in br or zstd that is cut off is an error`(coding: LibraryCoding) async throws {
    let parts = (1..<coding.hello.count).map { Array(coding.hello.prefix($0)) }
    let server = try Self.server(parts, coding)
    for part in parts {
      let error = await HTTPDataOperation(server.url()).run().error as? HTTPTransferError
      #expect(error?.reason == .connectionLost, "\(part.count) bytes")
    }
  }

  @Test(arguments: LibraryCoding.installed)
  func `N8: a body in br or zstd in which a bit has changed is an error or whole`(
    coding: LibraryCoding
  ) async throws {
    let bodies = (0..<coding.hello.count * 8).map { bit in
      var body = coding.hello
      body[bit / 8] ^= 1 << (bit % 8)
      return body
    }
    let server = try Self.server(bodies, coding)
    var failures = 0
    for body in bodies {
      switch await HTTPDataOperation(server.url()).run() {
      case .result(let response):
        // Only zstd has a checksum.
        #expect(coding == .br || response.body == Self.hello, "\(body)")
      case .error(let error):
        failures += 1
        let reason = (error as? HTTPTransferError)?.reason
        #expect([.undecodableBody, .connectionLost].contains(reason), "\(error)")
      case .cancelled: Issue.record("a cancelled request")
      }
    }
    #expect(failures > bodies.count / 4)
  }

  @Test(arguments: LibraryCoding.installed, ["\n", "<html>", "\0", "(", "(\u{0}"])
  func `N8: bytes after data in br or zstd are an error, or are ignored`(
    coding: LibraryCoding, text: String
  ) async throws {
    let server = try LoopbackServer(
      Self.response(coding.rawValue, coding.hello + Array(text.utf8)))
    let outcome = await HTTPDataOperation(server.url()).run()
    #expect("\(outcome)".contains("data follow its end"), "\(outcome)")
    let options = HTTPRequestOptions(bodyDecoding: .lenient)
    let response = try await HTTPDataOperation(server.url(), options: options).run().get()
    #expect(response.body == Self.hello)
  }

  @Test(.enabled(if: LibraryCoding.zstd.isInstalled))
  func `N8: a body in zstd may have several frames`() async throws {
    let hello = LibraryCoding.zstd.hello
    // A frame for programs that know it, of three bytes.
    let skipped: [UInt8] = [0x51, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
    let server = try LoopbackServer(
      Self.response("zstd", hello + skipped + hello + hello),
      Self.response("zstd", hello + hello.dropLast(2)))
    let response = try await HTTPDataOperation(server.url()).run().get()
    #expect(response.body == Data("hellohellohello".utf8))
    let error = await HTTPDataOperation(server.url()).run().error as? HTTPTransferError
    #expect(error?.reason == .connectionLost)
  }

  @Test(.enabled(if: LibraryCoding.zstd.isInstalled))
  func `N8: a body in zstd that needs more than 8 MiB of memory is an error`() async throws {
    // 128 KiB of zeros; the window is 128 MiB.
    let body: [UInt8] = [
      0x28, 0xB5, 0x2F, 0xFD, 0, 0x88, 0x65, 0, 0, 0x10, 0, 0, 2, 0, 0xE9, 0xFF, 0x37, 0x73, 0xE0,
      1, 0x2C,
    ]
    let server = try LoopbackServer(Self.response("zstd", body))
    let error = await HTTPDataOperation(server.url()).run().error as? HTTPTransferError
    #expect(error?.reason == .undecodableBody, "\(error.map { "\($0)" } ?? "no error")")
  }

  @Test(arguments: LibraryCoding.allCases)
  func `N8: a request that asks for br or zstd receives the body as it was sent`(
    coding: LibraryCoding
  ) async throws {
    let server = try LoopbackServer(Self.response(coding.rawValue, coding.hello))
    var request = URLRequest(url: server.url())
    request.setValue("gzip, \(coding)", forHTTPHeaderField: "Accept-Encoding")
    let response = try await HTTPDataOperation(request).run().get()
    #expect(response.body == Data(coding.hello))
    #expect(response.head.undecodedCoding == coding.rawValue)
  }
}
