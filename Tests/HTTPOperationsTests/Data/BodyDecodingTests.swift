import CompositeOperations
import Foundation
import HTTPOperations
import LoopbackServer
import Testing

/// Bodies that are not as the server describes them.
@Suite(.timeLimit(.minutes(10))) struct BodyDecodingTests {
  private static let hello = Array("hello".utf8)

  @Test(arguments: ["aws-chunked", "utf-8", "none", "gzip, aws-chunked"])
  func `N8: a body with an unknown coding is an error, or delivered with a mark`(
    coding: String
  ) async throws {
    let server = try LoopbackServer(.init("hello", headers: ["Content-Encoding: \(coding)"]))
    let error = try #require(
      await HTTPDataOperation(server.url()).run().error as? HTTPTransferError)
    #expect(error.reason == .undecodableBody)
    #expect("\(error)".contains("its coding \(coding) is unknown"), "\(error)")
    #expect("\(error)".contains("set bodyDecoding of the options to lenient"), "\(error)")
    let options = HTTPRequestOptions(bodyDecoding: .lenient)
    let response = try await HTTPDataOperation(server.url(), options: options).run().get()
    #expect(response.body == Data(Self.hello) && response.head.undecodedCoding == coding)
  }

  @Test func `N8: the codings after an unknown one are undone`() async throws {
    let server = try LoopbackServer(
      .init(headers: ["Content-Encoding: aws-chunked, gzip"], body: compressed(Self.hello)))
    let options = HTTPRequestOptions(bodyDecoding: .lenient)
    let response = try await HTTPDataOperation(server.url(), options: options).run().get()
    #expect(response.body == Data(Self.hello))
    #expect(response.head.undecodedCoding == "aws-chunked")
  }

  @Test func `N8: two codings are undone, and three are an error`() async throws {
    let twice = compressed(compressed(Self.hello))
    let server = try LoopbackServer(
      .init(headers: ["Content-Encoding: gzip, gzip"], body: twice),
      .init(headers: ["Content-Encoding: gzip, gzip, gzip"], body: compressed(twice)))
    #expect(try await HTTPDataOperation(server.url()).run().get().body == Data(Self.hello))
    let error = await HTTPDataOperation(server.url()).run().error as? HTTPTransferError
    #expect(error?.reason == .undecodableBody)
  }

  // The last ones begin like another member.
  @Test(arguments: ["\n", "<html>", "\0\0\n", "\u{1F}", "\u{1F}\0\0", "\u{1F}<html>"])
  func `N8: bytes after compressed data are an error, or are ignored`(text: String) async throws {
    let body = compressed(Self.hello) + Array(text.utf8)
    let server = try LoopbackServer(.init(headers: ["Content-Encoding: gzip"], body: body))
    let outcome = await HTTPDataOperation(server.url()).run()
    #expect("\(outcome)".contains("data follow its end"), "\(outcome)")
    #expect("\(outcome)".contains("set bodyDecoding of the options to lenient"), "\(outcome)")
    let options = HTTPRequestOptions(bodyDecoding: .lenient)
    let response = try await HTTPDataOperation(server.url(), options: options).run().get()
    #expect(response.body == Data(Self.hello) && response.head.undecodedCoding == nil)
  }

  @Test func `N8: the error of a status has the mark of a body that is not decoded`() async throws {
    let server = try LoopbackServer(
      .init(500, headers: ["Content-Encoding: aws-chunked"], body: Self.hello))
    let outcome = await HTTPDataOperation(server.url()).run()
    let error = try #require(outcome.error as? HTTPStatusError, "\(outcome)")
    #expect(error.body.isEmpty && error.head.undecodedCoding == nil)
    let options = HTTPRequestOptions(bodyDecoding: .lenient)
    let lenient = await HTTPDataOperation(server.url(), options: options).run()
    let delivered = try #require(lenient.error as? HTTPStatusError, "\(lenient)")
    #expect(delivered.body == Data(Self.hello))
    #expect(delivered.head.undecodedCoding == "aws-chunked")
  }

  @Test func `N8: a lenient request still needs whole compressed data`() async throws {
    let body = Array(compressed(Self.hello).dropLast(4))
    let server = try LoopbackServer(.init(headers: ["Content-Encoding: gzip"], body: body))
    let options = HTTPRequestOptions(bodyDecoding: .lenient)
    let outcome = await HTTPDataOperation(server.url(), options: options).run()
    #expect((outcome.error as? HTTPTransferError)?.reason == .connectionLost)
  }
}
